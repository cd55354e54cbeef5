"""What libraries and chips really do, and the proof that the codec is exact."""
