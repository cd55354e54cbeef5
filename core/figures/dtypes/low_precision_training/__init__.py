"""Pictures of the page Low-precision training."""
