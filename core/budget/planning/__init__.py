"""One plan: a job on devices, the fewest devices that do it, and what to change."""
