"""Pictures of the pages on tensors."""
