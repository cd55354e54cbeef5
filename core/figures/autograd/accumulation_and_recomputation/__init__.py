"""The pictures of Accumulation and recomputation."""
