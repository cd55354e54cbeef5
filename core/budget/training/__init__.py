"""The memory of training, in closed form."""
