"""A finished run as one HTML file that plays anywhere."""
