"""The run directory: what a worker writes down, and what others read from it."""
