"""Axes in their colours: the same one wherever a name stands, and never the colour alone."""

from collections.abc import Iterable, Sequence
from html import escape

from core.figures.picture import Look
from core.tensors.einops_plan import AxisToken


def axis_color(name: str, names: Sequence[str], look: Look) -> str:
    """Return the colour of an axis: its place among all names decides; numbers are muted."""
    return look.color(f"axis_{names.index(name) + 1}" if name in names else "muted")


def mixed(color: str, share: float, look: Look) -> str:
    """Return a colour laid over the page's background: `share` 1 is the colour itself."""
    ground = look.color("background")
    parts = [
        round(share * int(color[at : at + 2], 16) + (1 - share) * int(ground[at : at + 2], 16))
        for at in (1, 3, 5)
    ]
    return "#{:02x}{:02x}{:02x}".format(*parts)


def colored(text: str, tokens: Iterable[AxisToken], names: Sequence[str], look: Look) -> str:
    """Return a pattern as Plotly's HTML, every name in the colour of its axis.

    Args:
        text: The whole pattern.
        tokens: Of one side of it: what stands between the first and the last is returned.
        names: All axes, in the order of their colours.
        look: How the reader wants to see.
    """
    parts, end = [], 0
    for token in tokens:
        color = axis_color(token.axis, names, look)
        word = escape(text[token.start : token.end])
        parts += [
            escape(text[end : token.start]) if end else _opening(text, token.start),
            f'<span style="color:{color}"><b>{word}</b></span>',
        ]
        end = token.end
    return "".join([*parts, ")" * (text[end:].lstrip()[:1] == ")")])


def _opening(text: str, start: int) -> str:
    return "(" * (text[:start].rstrip()[-1:] == "(")
