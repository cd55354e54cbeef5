"""A text on its way through a model, drawn in the browser while it is typed."""
