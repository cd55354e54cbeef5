"""Patterns with names: rearrange, reduce, repeat, einsum, and attention made of them."""
