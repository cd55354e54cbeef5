"""The parts of home and lessons."""
