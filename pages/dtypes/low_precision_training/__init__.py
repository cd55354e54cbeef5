"""Parts of the page Low-precision training."""
