"""How the page is read: its language for screen readers and fonts, its theme, the projector."""
