"""A real training step on meta tensors: every operation runs, no byte of data exists.

The modules of this room import torch; `core.budget.simulation.timeline` does not.
"""
