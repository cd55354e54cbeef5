"""Parts of the page Rounding and overflow."""
