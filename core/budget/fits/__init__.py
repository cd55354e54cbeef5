"""Which model fits on which device, what is the first that does not, and what would fit."""
