"""A real training step on meta tensors: every operation runs, no byte of data exists.

The modules of this room import torch; `cases` and `timeline`, which a page reads, do not.
"""
