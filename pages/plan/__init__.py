"""Sizing: one plan, and what it costs."""
