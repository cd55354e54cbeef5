"""Claims and programs that are wrong."""
