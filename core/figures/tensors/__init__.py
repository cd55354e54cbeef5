"""Pictures of the pages about tensors."""
