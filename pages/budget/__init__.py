"""Memory and FLOPs: what 7B-70B models cost."""
