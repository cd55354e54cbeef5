"""Pages about gradients."""
