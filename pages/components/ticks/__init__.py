"""A list with ticks that stay in the reader's browser."""
