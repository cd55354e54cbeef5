"""Where an element of a tensor lies."""
