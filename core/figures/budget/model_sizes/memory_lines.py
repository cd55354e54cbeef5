"""A memory to hold bytes against, and whether it holds them."""

from dataclasses import dataclass

from core.language import _


@dataclass(frozen=True, slots=True)
class Line:
    """A memory in a picture: a name that everybody reads alike, and its bytes."""

    name: str
    num_bytes: float


def verdict(num_bytes: float, chosen: Line) -> str:
    """Return whether bytes fit into the chosen memory, or into how many of them at least."""
    if num_bytes <= chosen.num_bytes:
        return _("✓ fits")
    if not chosen.num_bytes:
        return _("✗ no memory")
    needed = -int(-num_bytes // chosen.num_bytes)
    return _("✗ ≥ {count} devices").format(count=f"{needed:,}")
