"""A slider is let go of and taken up again while the hand still drags it."""
