"""Mistakes of a training run, made on purpose."""
