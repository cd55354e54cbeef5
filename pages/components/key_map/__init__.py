"""The list of keys, and the keys themselves."""
