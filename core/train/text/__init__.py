"""What a run learns from: texts, cut into tokens and measured."""
