"""A CUDA memory snapshot: read in a process of its own, gone through, and summed up."""
