"""Pictures of the pages on gradients."""
