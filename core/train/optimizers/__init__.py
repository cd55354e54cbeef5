"""How an optimizer turns gradients into steps: one rule, schedules, clipping, the loop."""
