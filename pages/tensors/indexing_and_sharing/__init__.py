"""Which variables change when an element is written."""
