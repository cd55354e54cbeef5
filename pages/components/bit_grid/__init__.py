"""Bits to click: a number of any format, taken apart in the browser."""
