"""Compare recipes."""
