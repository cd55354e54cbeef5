"""Parts of the page What fits."""
