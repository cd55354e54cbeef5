"""Mistakes of a training run: switched on, run beside a healthy twin, found by its own rows."""
