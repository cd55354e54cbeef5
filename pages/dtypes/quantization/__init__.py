"""Parts of the page Quantization."""
