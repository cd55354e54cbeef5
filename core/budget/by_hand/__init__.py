"""Closed forms small enough to count by hand: two rules, our own GPT, a model of a lecture."""
