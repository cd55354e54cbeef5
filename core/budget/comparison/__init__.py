"""Budgets beside each other, and beside published figures."""
