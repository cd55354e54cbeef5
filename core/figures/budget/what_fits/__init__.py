"""Pictures of the page What fits."""
