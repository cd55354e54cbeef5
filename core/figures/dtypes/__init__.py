"""Pictures of bits, casts, labs and quantized tensors."""
