"""A captured autograd graph and its timeline, drawn in the browser."""
