"""Pictures: pure functions from a result to a figure; `theme` holds colours by meaning.

Importing this package (or `theme`) loads neither plotly nor torch.
"""
