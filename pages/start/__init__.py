"""Where a reader begins: home and the list of lessons."""
