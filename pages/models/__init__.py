"""Pages about models: their layers, and what happens inside."""
