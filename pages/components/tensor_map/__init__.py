"""A tensor and its storage, drawn in the browser."""
