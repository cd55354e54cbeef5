"""The command line: its settings and its commands."""
