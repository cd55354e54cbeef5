"""The number formats: what a code is made of, the codecs, and a table of all by name."""
