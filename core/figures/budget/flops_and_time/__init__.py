"""Pictures of the page FLOPs and time."""
