"""Stated speeds and sizes, held against what a device can do at most."""
