"""Claims and programs that are wrong, each with the code that shows it."""
