"""Parts of the page Lessons."""
