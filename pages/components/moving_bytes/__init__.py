"""Devices and the bytes that move between them, drawn and played in the browser."""
