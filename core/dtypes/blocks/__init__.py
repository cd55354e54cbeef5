"""Tensors in blocks that share a scale: formats, rules, errors, and tensors to try them on."""
