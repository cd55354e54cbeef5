"""Step profiler: one training step taken apart."""
