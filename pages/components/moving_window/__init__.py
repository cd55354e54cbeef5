"""A hand on a picture moves and zooms what it shows of an axis."""
