"""Recipes side by side: what differs, the race of small models in turns, and the same at 7B."""
