"""Serving in closed form: what each device holds, and how fast it answers."""
