"""The models and the devices: rows with their sources, and what can be counted from them."""
