"""FLOPs, and the seconds and the money that they take."""
