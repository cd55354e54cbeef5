"""A real training run: what it trains on, how it steps, and the directory it writes.

The worker and the pages meet only in that directory. Nothing imported here needs torch.
"""
