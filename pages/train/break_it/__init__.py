"""Break it: mistakes that a run can bear, made on purpose."""
