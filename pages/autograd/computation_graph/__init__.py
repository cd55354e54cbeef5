"""The page on the computation graph."""
