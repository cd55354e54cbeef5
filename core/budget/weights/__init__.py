"""How many numbers a model has, and the bytes of its weights."""
