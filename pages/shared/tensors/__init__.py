"""What the pages about tensors share."""
