"""Pictures of the page Live training."""
