"""Small experiments in which 16 bits and fewer lose numbers: arrays in, steps out."""
