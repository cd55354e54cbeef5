"""Parts of the page Layers and parameters."""
