"""Pages about tensors: where elements lie, what shares memory, how shapes go together."""
