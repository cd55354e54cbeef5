"""Pictures of the page on the computation graph."""
