"""A tensor before and after a pattern, cell by cell, coloured by the index along one axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.figures.picture import Drawing, Look, Picture, Table
from core.figures.tensors.rearrange_and_einsum.axes import axis_color, colored, mixed
from core.language import _
from core.tensors.pattern_cells import Cells, PatternRun, axis_words

HEIGHT: Final = 330
PRESENT_HEIGHT: Final = 300
_WIDTH: Final = {False: 1000, True: 700}  # pixels that the picture has, about
_LEAST_CELL: Final = {False: (9, 9), True: (0, 44)}  # pixels of a cell: for each digit, and more
_GAP: Final = 0.35  # between blocks, in cells
_MOST_SWATCHES: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class _Panel:
    """One tensor in its place: where its cells lie, in cells, and its axes in the figure."""

    cells: Cells
    place: npt.NDArray[np.float64]
    extent: tuple[float, float]
    domain: tuple[float, float]
    suffix: str


def pattern_picture(run: PatternRun, axis: str, names: Sequence[str], look: Look) -> Picture:
    """Return both tensors side by side under the two sides of the pattern.

    Args:
        run: What the pattern did.
        axis: The cells are coloured by the index along it.
        names: All axes, in the order of their colours.
        look: How the reader wants to see.
    """
    drawing, layout = Drawing(), look.layout()
    size = layout["font"]["size"]
    height = PRESENT_HEIGHT if look.present else HEIGHT
    panels = _panels(run)
    shades = _shades(run, axis, names, look)
    for panel in panels:
        width = (panel.domain[1] - panel.domain[0]) * _WIDTH[look.present]
        pixels = min(width / panel.extent[0], (height - 5.2 * size) / panel.extent[1])
        _draw_cells(drawing, panel, axis, shades, look)
        _draw_values(drawing, panel, look, pixels)
    said = _letters(run, names, look)
    _draw_titles(drawing, run, names, [panel.domain for panel in panels], look)
    _draw_key(drawing, run, axis, shades, said)
    plain = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 3.3 * size, "b": (3.3 if said else 1.9) * size},
        "showlegend": False,
    }
    axes = _axes(panels[0]) | _axes(panels[1])
    figure = drawing.figure(layout | plain | axes)
    return Picture(figure=figure, alt=_sentence(run, axis), table=_table(run, axis))


def _panels(run: PatternRun) -> list[_Panel]:
    scenes = [_places(cells.shape) for cells in (run.before, run.after)]
    domains = _domains([extent[0] for _place, extent in scenes])
    return [
        _Panel(cells=cells, place=place, extent=extent, domain=domain, suffix=suffix)
        for cells, (place, extent), domain, suffix in zip(
            (run.before, run.after), scenes, domains, ("", "2"), strict=True
        )
    ]


def _places(shape: Sequence[int]) -> tuple[npt.NDArray[np.float64], tuple[float, float]]:
    """Return x and y of every cell, and how wide and high all of them are.

    As in the tensor map: the last dimension runs to the right, the one before it down; further ones
    set blocks side by side and below each other in turn.
    """
    extent, place = [1.0, 1.0], np.zeros((2, *shape))
    for out, length in enumerate(reversed(shape)):
        way, gap = out % 2, _GAP * (out // 2)
        lengths = [length if each == len(shape) - 1 - out else 1 for each in range(len(shape))]
        place[way] += np.arange(length).reshape(lengths) * (extent[way] + gap)
        extent[way] = length * extent[way] + (length - 1) * gap
    return place, (extent[0], extent[1])


def _domains(widths: Sequence[float]) -> tuple[tuple[float, float], tuple[float, float]]:
    share = min(max(widths[0] / sum(widths), 0.3), 0.7)
    return (0.0, 0.93 * share), (0.93 * share + 0.07, 1.0)


def _shades(run: PatternRun, axis: str, names: Sequence[str], look: Look) -> list[str]:
    """Return the colour of each index along the axis, from faint to full."""
    length = run.shown.get(axis, 1)
    color = axis_color(axis, names, look)
    steps = [0.14 + 0.5 * index / max(length - 1, 1) for index in range(length)]
    return [mixed(color, step, look) for step in steps]


def _draw_cells(
    drawing: Drawing, panel: _Panel, axis: str, shades: Sequence[str], look: Look
) -> None:
    """Draw the cells of each index in one trace: squares that are filled."""
    along = panel.cells.along.get(axis)
    for index, shade in enumerate(shades if along is not None else [look.color("surface")]):
        is_here = np.full(panel.cells.shape, True) if along is None else along == index
        x, y = (np.atleast_1d(part[is_here]) for part in panel.place)
        drawing.scatter(
            x=[each for left in x for each in (left, left + 0.92, left + 0.92, left, left, None)],
            y=[each for top in y for each in (top, top, top + 0.92, top + 0.92, top, None)],
            xaxis=f"x{panel.suffix}",
            yaxis=f"y{panel.suffix}",
            mode="lines",
            fill="toself",
            fillcolor=shade,
            line={"color": look.color("muted"), "width": 0.6},
            hoverinfo="skip",
            name=f"{axis} = {index}" if along is not None else "",
        )


def _draw_values(drawing: Drawing, panel: _Panel, look: Look, pixels: float) -> None:
    """Write what the cells hold where there is room; the rest is told on hover."""
    x, y = (part.reshape(-1) + 0.46 for part in panel.place)
    cells = panel.cells
    texts = [""] * len(x) if cells.values is None else list(map(_short, cells.values.flat))
    digit, more = _LEAST_CELL[look.present]
    has_room = pixels >= digit * max(map(len, texts)) + more
    indices = [part.reshape(-1) for part in cells.along.values()]
    hovers = [
        " ".join(f"{name}={part[at]}" for name, part in zip(cells.along, indices, strict=True))
        for at in range(len(x))
    ]
    drawing.scatter(
        x=x.tolist(),
        y=y.tolist(),
        xaxis=f"x{panel.suffix}",
        yaxis=f"y{panel.suffix}",
        mode="text",
        text=texts if has_room else [""] * len(x),
        textfont={"size": look.layout()["font"]["size"] - (0 if look.present else 2)},
        customdata=[[text, hover] for text, hover in zip(texts, hovers, strict=True)],
        hovertemplate="%{customdata[1]}<br>%{customdata[0]}<extra></extra>",
    )


def _axes(panel: _Panel) -> dict[str, Any]:
    suffix = panel.suffix
    plain = {"visible": False, "fixedrange": True, "constrain": "domain"}
    across = {"domain": list(panel.domain), "range": [-0.1, panel.extent[0] + 0.1]}
    down = {"range": [panel.extent[1] + 0.1, -0.1], "scaleanchor": f"x{suffix}"}
    return {
        f"xaxis{suffix}": plain | across | {"anchor": f"y{suffix}"},
        f"yaxis{suffix}": plain | down | {"anchor": f"x{suffix}"},
    }


def _draw_titles(
    drawing: Drawing,
    run: PatternRun,
    names: Sequence[str],
    domains: Sequence[tuple[float, float]],
    look: Look,
) -> None:
    """Write each side of the pattern above its tensor, and its shape below that."""
    size = look.layout()["font"]["size"]
    for side, shape, domain in zip(
        ("left", "right"), (run.shape, run.result_shape), domains, strict=True
    ):
        tokens = [token for token in run.plan.tokens if token.side == side]
        text = colored(run.call.pattern, tokens, names, look) or "()"
        drawing.note(
            x=sum(domain) / 2, y=1, xref="paper", yref="paper", yanchor="bottom",
            text=f'<span style="font-size:{size + 7}px">{text}</span><br>{shape}',
        )  # fmt: skip
    middle = (domains[0][1] + domains[1][0]) / 2
    arrow = {"size": size + 12, "color": look.color("muted")}
    drawing.note(x=middle, y=0.5, xref="paper", yref="paper", text="→", font=arrow)


def _letters(run: PatternRun, names: Sequence[str], look: Look) -> str:
    """Return what each letter of the pattern stands for, in its colour; "" if nobody knows."""
    return " · ".join(
        f'<b style="color:{axis_color(name, names, look)}">{name}</b> {_(word)}'
        for name, word in axis_words(run.call.pattern).items()
    )


def _draw_key(
    drawing: Drawing, run: PatternRun, axis: str, shades: Sequence[str], said: str
) -> None:
    """Say below the picture what the letters stand for, and which shade is which index."""
    swatches = [
        f'<span style="color:{shade}">■</span> {index}'
        for index, shade in enumerate(shades[:_MOST_SWATCHES])
    ]
    dots = " …" if run.call.lengths.get(axis, 1) > len(swatches) else ""
    text = _("colour: index along {axis}").format(axis=f"<b>{axis}</b>")
    drawing.note(
        x=0.5, y=0, xref="paper", yref="paper", yanchor="top", yshift=-4,
        text="<br>".join(filter(None, [said, f"{text} &nbsp; {'&nbsp; '.join(swatches)}{dots}"])),
    )  # fmt: skip


def _short(value: float) -> str:
    return f"{value:.4g}"


def _sentence(run: PatternRun, axis: str) -> str:
    words = _(
        "{operation} {pattern}: a tensor of shape {before} on the left, the result of shape "
        "{after} on the right, both coloured by the index along {axis}, which has length {length}."
    )
    return words.format(
        operation=run.call.operation,
        pattern=run.call.pattern,
        before=run.shape,
        after=run.result_shape,
        axis=axis,
        length=run.call.lengths.get(axis, 1),
    )


def _table(run: PatternRun, axis: str) -> Table:
    """Return the dimensions of both tensors, and where the axis lies in each."""
    rows = [
        (side, dim, length, axis in dim.strip("()").split())
        for side, cells, shape in (
            (_("before"), run.before, run.shape),
            (_("after"), run.after, run.result_shape),
        )
        for dim, length in zip(cells.dims, shape, strict=False)
    ]
    return {
        _("tensor"): [row[0] for row in rows],
        _("dimension"): [row[1] for row in rows],
        _("length"): [row[2] for row in rows],
        _("holds {axis}").format(axis=axis): [_("yes") if row[3] else _("no") for row in rows],
    }
