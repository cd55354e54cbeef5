"""Parts of the page FLOPs and time."""
