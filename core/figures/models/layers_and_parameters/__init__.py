"""Pictures of the page Layers and parameters."""
