"""Parts of one page that are too long for its script, by section."""
