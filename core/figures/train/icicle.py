"""The operators of a step as an icicle: parts, ranges, operators, and what these call."""

import html
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.train.profiler.trace import Operator, Profile
from core.units import format_percent, format_seconds

# Word and colour.
PART_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "data": (N_("data"), "axis_3"),
    "forward": (N_("forward"), "forward"),
    "backward": (N_("backward"), "backward"),
    "clip": (N_("clipping"), "axis_2"),
    "optimizer": (N_("optimizer"), "optimizer"),
    "logging": (N_("logging"), "axis_5"),
    "other": (N_("other"), "other"),
}
_HEIGHT_PX: Final = 400


def icicle_picture(profile: Profile, look: Look) -> Picture:
    """Return the tree of callers: parts of the step, ranges, operators, and what these call."""
    drawing, layout, nodes = Drawing(), look.layout(), profile.nodes
    whole = sum(node.seconds for node in nodes if len(node.path) == 1)
    names = [
        html.escape(node.path[-1].removeprefix("aten::")) if len(node.path) > 1
        else _(PART_WORDS.get(node.path[0], PART_WORDS["other"])[0]) for node in nodes
    ]  # fmt: skip
    colors = [look.color(PART_WORDS.get(it.path[0], PART_WORDS["other"])[1]) for it in nodes]
    ids = ["/".join(("", *node.path)) for node in nodes]
    drawing.trace(
        "icicle",
        ids=["/", *ids],
        parents=["", *("/".join(("", *node.path[:-1])) or "/" for node in nodes)],
        labels=[_("all operators"), *names],
        values=[whole * 1e3, *(node.seconds * 1e3 for node in nodes)],
        customdata=[profile.num_calls, *(node.calls for node in nodes)],
        branchvalues="total", sort=False, tiling={"orientation": "v"},
        marker={"colors": [look.color("surface"), *colors],
                "line": {"width": 1, "color": look.color("background")}},
        leaf={"opacity": 0.85},
        textfont={"color": [look.color("text")] + [look.color("background")] * len(nodes)},
        texttemplate="%{label} %{percentRoot:.0%}",
        hovertemplate="%{label}<br>%{value:.3f} ms, %{percentRoot:.1%}<br>"
        + _("{count} calls").format(count="%{customdata:,}") + "<extra></extra>",
    )  # fmt: skip
    size = layout["font"]["size"]
    fields = {"height": _HEIGHT_PX, "margin": {"l": 8, "r": 8, "t": size * 2, "b": 8},
              "uniformtext": {"minsize": size, "mode": "hide"}}  # fmt: skip
    phases = [f"{_(PART_WORDS[name][0])} {format_percent(seconds / whole)}"
              for name, seconds in profile.phases.items() if seconds]  # fmt: skip
    alt = _("Icicle of {calls} calls in {seconds}: {phases}. Most self time: {first}.").format(
        calls=f"{profile.num_calls:,}", seconds=format_seconds(whole),
        phases=_(", ").join(phases), first=profile.operators[0].name,
    )  # fmt: skip
    table = operator_columns(profile.operators, profile)
    return Picture(figure=drawing.figure(layout | fields), alt=alt, table=table)


def operator_columns(rows: Sequence[Operator], profile: Profile) -> dict[str, list[Any]]:
    """Return a table of operators or of ranges, a row each; milliseconds of all steps."""
    columns: dict[str, list[Any]] = {_("operator"): [row.name for row in rows]}
    times = {_("self (ms)"): "own", _("total (ms)"): "total", _("self in forward (ms)"): "forward",
             _("self in backward (ms)"): "backward"}  # fmt: skip
    times |= {_("on the GPU (ms)"): "device"} if profile.has_device else {}
    for title, name in times.items():
        columns[title] = [round(getattr(row, name) * 1e3, 3) for row in rows]
    columns[_("calls")] = [row.calls for row in rows]
    columns[_("self a call (µs)")] = [round(row.own / row.calls * 1e6, 1) for row in rows]
    return columns
