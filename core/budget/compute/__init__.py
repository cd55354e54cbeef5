"""FLOPs: how many there are, what memory leaves of them, and what rules of thumb say."""
