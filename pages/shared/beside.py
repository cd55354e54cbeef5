"""Two sides beside each other: a tab says what its rows are for a case, and both are drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.budget.comparison.side_by_side import Pair, Rows, side_by_side
from core.budget.item import Item
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from pages.shared.answer import written
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

MOST_WORDS: Final = {False: 3, True: 1}  # of a name: it stands in one line of the legend
_MORE: Final[Mapping[str, tuple[str, str]]] = {
    "bytes": (
        N_("B needs {ratio} times A's memory: {b} against {a}"),
        N_("A and B need the same memory: {a}"),
    ),
    "parameters": (
        N_("B has {ratio} times A's parameters: {b} against {a}"),
        N_("A and B have as many parameters: {a}"),
    ),
    "s": (
        N_("B takes {ratio} times as long as A: {b} against {a}"),
        N_("A and B take the same time: {a}"),
    ),
    "FLOPs": (
        N_("B takes {ratio} times A's FLOPs: {b} against {a}"),
        N_("A and B take the same FLOPs: {a}"),
    ),
    "tokens/s": (
        N_("B is {ratio} times as fast as A: {b} against {a}"),
        N_("A and B are equally fast: {a}"),
    ),
    "1": (
        N_("B reaches {ratio} times A's share of the peak: {b} against {a}"),
        N_("A and B reach the same share of the peak: {a}"),
    ),
}
"""Unit of the first row -> what is said of two amounts, and of two that are alike."""
MOST_ROWS: Final = {False: 8, True: 4}  # on a projector True; the table has them all
_ROW_HEIGHT: Final = {False: 3.1, True: 2.9}  # of the text's size
_ROOM: Final = {
    False: 1.8,
    True: 2.3,
}  # of the longest bar: its number, difference and ratio stand beside
_BAR: Final = 0.36  # of a row


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """One side of a comparison."""

    name: str  # what it is, in a few translated words
    rows: Rows  # translated label and number, the one that the headline compares first
    verdict: str = ""  # whether it fits, translated; "" where that is no question
    code: str = ""  # Python that computes the numbers


def beside(side_of: Callable[..., Compared]) -> Callable[[Sequence[Any], Sequence[Any]], Shown]:
    """Return what shows two sides, given what a tab says of one for what its `show` takes."""
    return lambda a, b: shown(side_of(*a), side_of(*b))


def named_beside(
    words_of: Callable[[Any], Sequence[str]], side_of: Callable[[Any, str], Compared]
) -> Callable[[Sequence[Any], Sequence[Any]], Shown]:
    """Return what shows two sides that are called by the words in which they differ."""

    def show(a: Sequence[Any], b: Sequence[Any]) -> Shown:
        both = (a[0], b[0])
        return shown(*map(side_of, both, two_names(*map(words_of, both))))

    return show


def two_names(a: Sequence[str], b: Sequence[str]) -> tuple[str, str]:
    """Return what two sides are called: the first word of each, and the first that differ.

    >>> two_names(("GPT-2", "FP8", "1 × T4"), ("GPT-2", "BF16", "1 × T4"))
    ('GPT-2, FP8', 'GPT-2, BF16')
    """
    differing = [both for both in zip(a, b, strict=True) if len({*both}) > 1]
    small = presenting() and differing  # on a projector the legend has no room for what is alike
    words = differing if small else list(dict.fromkeys([(a[0], b[0]), *differing]))
    most = MOST_WORDS[presenting()]
    more = _(", ") + "…" if len(words) > most else ""
    one, other = zip(*words[:most], strict=True)
    return _(", ").join(one) + more, _(", ").join(other) + more


def shown(a: Compared, b: Compared) -> Shown:
    """Return the picture of two sides, the sentence that compares them, and both numbers."""
    pairs = side_by_side(a.rows, b.rows)
    picture = side_by_side_picture(pairs, (a.name, b.name), look())
    sides = [("A", a), ("B", b)]
    return Shown(
        headline=sentence(pairs[0], (a.verdict, b.verdict)),
        charts=[Chart(picture=picture, file_name="a-and-b", key="compared")],
        numbers=[(f"{letter} · {side.rows[0][0]}", side.rows[0][1]) for letter, side in sides],
        numbers_below=True,
        code="\n".join(
            f"# {letter}: {side.name}{side.code}" for letter, side in sides if side.code
        ),
    )


def sentence(pair: Pair, verdicts: Sequence[str] = ("", "")) -> str:
    """Return how many times A's number B's is, and whether they fit.

    `pair` is the row that matters most.
    """
    other, same = _MORE[pair.unit]
    a, b = (written(amount, pair.unit) for amount in pair.amounts)
    if pair.difference and pair.ratio is None:
        other = N_("A: {a}, B: {b}")
    ratio = ratio_text(pair.ratio).removesuffix(" ×")
    said = _(other if pair.difference else same).format(ratio=ratio, a=a, b=b)
    if not all(verdicts):
        return said
    return _("{said} (A: {a}, B: {b})").format(said=said, a=verdicts[0], b=verdicts[1])


def ratio_text(ratio: float | None) -> str:
    """Return how many times A's number B's is: "2.5 ×"; "–" where A has none.

    >>> ratio_text(2.5), ratio_text(1234.5), ratio_text(None)
    ('2.5 ×', '1,234 ×', '–')
    """
    if ratio is None:
        return "–"
    return f"{ratio:,.0f} ×" if ratio >= 100 else f"{ratio:.3g} ×"


def signed(difference: float, unit: str) -> str:
    """Return a difference with its sign: "+12.0 GiB", "−3 s", "±0"."""
    if not difference:
        return "±0"
    return ("+" if difference > 0 else "−") + written(abs(difference), unit)


def side_by_side_picture(pairs: Sequence[Pair], names: tuple[str, str], look: Look) -> Picture:
    """Return two bars for each row on one axis; rows of another unit have an axis of their own.

    The most important row comes first.
    """
    shown = pairs[: MOST_ROWS[look.present]]
    drawing, layout = Drawing(), look.layout()
    axes: dict[str, Any] = {}
    for place, unit in enumerate(dict.fromkeys(pair.unit for pair in shown)):
        axis = f"x{place + 1}" if place else "x"
        rows = [(row, pair) for row, pair in enumerate(shown) if pair.unit == unit]
        _draw_bars(drawing, rows, axis, _legend(names), look)
        reach = _ROOM[look.present] * (max(max(pair.amounts) for _row, pair in rows) or 1)
        bare = {"visible": False, "range": [0, reach], "fixedrange": True}
        axes[axis.replace("x", "xaxis")] = bare | ({"overlaying": "x"} if place else {})
    for row, pair in enumerate(shown):
        text = f"{signed(pair.difference, pair.unit)} · <b>{ratio_text(pair.ratio)}</b>"
        drawing.note(xref="paper", x=1, y=row, xanchor="right", text=text)
    size = layout["font"]["size"]
    ticks = {"tickvals": list(range(len(shown))), "ticktext": [pair.name for pair in shown]}
    frame = {
        "yaxis": layout["yaxis"]
        | {"range": [len(shown) - 0.5, -0.5], "showgrid": False, "zeroline": False}
        | {"fixedrange": True, **ticks},
        "height": round((len(shown) * _ROW_HEIGHT[look.present] + 3.4) * size),
        "legend": layout["legend"] | {"traceorder": "normal"},
        "margin": {"l": 8, "r": 8, "t": round(2.6 * size), "b": 8},
        "barmode": "overlay",
        "meta": sorted({pair.unit for pair in shown}),
    }
    return Picture(
        figure=drawing.figure(layout | frame | axes),
        alt=_sentence(shown, names),
        table=_table(pairs, names),
    )


def _legend(names: tuple[str, str]) -> tuple[str, str]:
    return _("A: {name}").format(name=names[0]), _("B: {name}").format(name=names[1])


def _draw_bars(
    drawing: Drawing, rows: Sequence[tuple[int, Pair]], axis: str, names: Sequence[str], look: Look
) -> None:
    """Add A's bars and B's; what a side lacks has no bar and a dash."""
    for side, label in enumerate(names):
        items = [(pair.a, pair.b)[side] for _row, pair in rows]
        drawing.bar(
            orientation="h",
            xaxis=axis,
            y=[row + (side - 0.5) * _BAR for row, _pair in rows],
            x=[item.amount if item else 0 for item in items],
            width=[_BAR] * len(rows),
            name=label,
            showlegend=axis == "x",
            marker={
                "color": look.color(("side_a", "side_b")[side]),
                "pattern": {"shape": ("", "/")[side]},
            },
            text=[written(item.amount, item.unit) if item else "–" for item in items],
            textposition="outside",
            constraintext="none",
            cliponaxis=False,
            customdata=[_explained(item) for item in items],
            hovertemplate="%{text}<br>%{customdata}<extra>%{fullData.name}</extra>",
        )


def _explained(item: Item | None) -> str:
    """Return the rule of a number with its numbers put in."""
    return f"{item.formula}<br>= {item.substituted}" if item else ""


def _sentence(pairs: Sequence[Pair], names: tuple[str, str]) -> str:
    rows = [
        _("{name} {a} and {b} ({ratio})").format(
            name=pair.name,
            a=written(pair.amounts[0], pair.unit),
            b=written(pair.amounts[1], pair.unit),
            ratio=ratio_text(pair.ratio),
        )
        for pair in pairs
    ]
    return _("A is {a}, B is {b}. Of A, of B, and B over A: {rows}.").format(
        a=names[0], b=names[1], rows=_("; ").join(rows)
    )


def _table(pairs: Sequence[Pair], names: tuple[str, str]) -> Table:
    """Return one row a pair: both sides and the difference in words, then as they are."""
    title_a, title_b = _legend(names)
    return {
        _("compared"): [pair.name for pair in pairs],
        title_a: [written(pair.amounts[0], pair.unit) if pair.a else "–" for pair in pairs],
        title_b: [written(pair.amounts[1], pair.unit) if pair.b else "–" for pair in pairs],
        _("B − A"): [signed(pair.difference, pair.unit) for pair in pairs],
        _("B ÷ A"): ["–" if pair.ratio is None else f"{pair.ratio:.6g}" for pair in pairs],
        _("A exactly"): [pair.a.amount if pair.a else None for pair in pairs],
        _("B exactly"): [pair.b.amount if pair.b else None for pair in pairs],
        _("difference exactly"): [pair.difference for pair in pairs],
        _("unit"): [pair.unit for pair in pairs],
    }
