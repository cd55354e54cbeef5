"""Parts of the page Serving."""
