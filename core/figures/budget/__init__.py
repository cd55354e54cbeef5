"""Pictures of bytes, FLOPs and seconds."""
