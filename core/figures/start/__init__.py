"""Pictures of where a reader begins."""
