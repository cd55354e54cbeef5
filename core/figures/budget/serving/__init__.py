"""Pictures of the page Serving."""
