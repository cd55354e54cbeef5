"""Pictures of the page Rounding and overflow."""
