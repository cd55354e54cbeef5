"""One training step taken apart: its parts, its operators, its numbers."""
