"""The button that copies a link to exactly this picture."""
