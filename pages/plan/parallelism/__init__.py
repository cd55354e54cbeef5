"""Parts of the page Parallelism."""
