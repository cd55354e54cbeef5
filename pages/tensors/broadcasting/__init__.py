"""Which shapes go together, and what is copied."""
