"""Pictures of the page Bit layouts."""
