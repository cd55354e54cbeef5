"""Pictures of the page Parallelism."""
