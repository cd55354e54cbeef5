"""Pictures of the page Quantization."""
