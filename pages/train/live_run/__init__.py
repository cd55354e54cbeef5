"""What stands before a live run: its settings, its start, and the runs that there are already."""
