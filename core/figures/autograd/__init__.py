"""Pictures of the pages about gradients."""
