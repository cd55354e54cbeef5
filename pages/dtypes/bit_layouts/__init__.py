"""Parts of the page Bit layouts."""
