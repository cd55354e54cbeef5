"""Bars: parameters against FLOPs by module, bytes of training, layers in train() and in eval()."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.figures.models.layers_and_parameters.icicle import meaning
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.models.layer_zoo import Visit
from core.models.module_flops import ModuleRow
from core.units import format_exact, format_percent

HEIGHT_PX: Final = 380
PRESENT_HEIGHT_PX: Final = 400
MOST_BARS: Final = {False: 12, True: 6}  # on a projector True
ROOM: Final = {False: 0.15, True: 0.25}  # for words beside the longest bar


def modules_picture(rows: Sequence[ModuleRow], look: Look) -> Picture:
    """Return for each module its share of the parameters and of the FLOPs, the largest first."""
    params, flops = sum(row.num_params for row in rows), sum(row.flops for row in rows) or 1
    shares = {row.path: (row.num_params / params, row.flops / flops) for row in rows}
    largest = sorted(rows, key=lambda row: -max(shares[row.path]))[: MOST_BARS[look.present]]
    shown = [row for row in rows if row in largest]
    drawing, names = Drawing(), [_name(row, look) for row in shown]
    series = ((_("parameters"), 0, ""), (_("FLOPs"), 1, "/"))
    for title, place, pattern in series:
        drawing.bar(
            orientation="h", y=names, x=[shares[row.path][place] for row in shown], name=title,
            marker={"color": [look.color(meaning(row.node.part)) for row in shown],
                    "pattern": {"shape": pattern}},
            hovertemplate="%{y}: %{x:.1%}<extra>" + title + "</extra>",
        )  # fmt: skip
    axes = {"xaxis": {"tickformat": ".3~%"}, "yaxis": {"autorange": "reversed"}}
    alt = _("Shares of parameters and FLOPs: {parts}.").format(
        parts=_("; ").join(
            _("{name} {params} and {flops}").format(
                name=name, params=format_percent(one), flops=format_percent(other)
            )
            for name, (one, other) in (
                (n, shares[r.path]) for n, r in zip(names, shown, strict=True)
            )
        )
    )
    return Picture(figure=drawing.figure(_layout(look, axes)), alt=alt, table=modules_table(rows))


def _name(row: ModuleRow, look: Look) -> str:
    """Return the full name, on a projector without the list that all blocks are in."""
    path = row.path.removeprefix("blocks.") if look.present else row.path
    return path or row.node.type


def modules_table(rows: Sequence[ModuleRow]) -> dict[str, list[object]]:
    """Return a row for each module with parameters or products of its own."""
    return {
        _("module"): [row.path for row in rows],
        _("type"): [row.node.type for row in rows],
        _("how many"): [row.node.count for row in rows],
        _("parameters"): [format_exact(row.num_params) for row in rows],
        _("bytes"): [format_exact(_own_bytes(row)) for row in rows],
        "FLOPs": [format_exact(row.flops) for row in rows],
    }


def _own_bytes(row: ModuleRow) -> int:
    return sum(each.num_bytes for each in row.node.children if each.is_leaf)


def bytes_picture(
    cases: Mapping[str, Mapping[str, int]], meanings: Mapping[str, str], look: Look
) -> Picture:
    """Return stacked bars of bytes.

    Args:
        cases: Translated name of a bar -> translated name of a part -> its bytes.
        meanings: Translated name of a part -> the theme's word for it.
        look: How the reader wants to see.
    """
    drawing, names = Drawing(), list(cases)
    for part, word in meanings.items():
        amounts = [case.get(part, 0) for case in cases.values()]
        drawing.bar(
            orientation="h", y=names, x=[look.in_unit(each) for each in amounts], name=part,
            marker={"color": look.color(word)}, customdata=list(map(look.format_bytes, amounts)),
            hovertemplate="%{y}: %{customdata}<extra>" + part + "</extra>",
        )  # fmt: skip
    sums = {name: sum(case.values()) for name, case in cases.items()}
    totals = {name: look.format_bytes(amount) for name, amount in sums.items()}
    for name, amount in sums.items():
        drawing.note(x=look.in_unit(amount), y=name, text=totals[name], xanchor="left", xshift=6)
    most = look.in_unit(max(sums.values())) * (1 + ROOM[look.present])
    axes: dict[str, dict[str, Any]] = {
        "xaxis": {"title": {"text": look.unit}, "range": [0, most]},
        "yaxis": {"autorange": "reversed", "showgrid": False},
    }
    layout = _layout(look, axes)
    order = {"legend": {**layout["legend"], "traceorder": "normal"}}
    figure = drawing.figure(layout | order | {"barmode": "stack"})
    said = _(", ").join(f"{name}: {total}" for name, total in totals.items())
    table = {_("training"): names} | {
        part: [case.get(part, 0) for case in cases.values()] for part in meanings
    }
    alt = _("Bytes of weights, gradients and optimizer. {cases}.").format(cases=said)
    return Picture(figure=figure, alt=alt, table=table)


def zoo_picture(visits: Sequence[Visit], chosen: str, look: Look) -> Picture:
    """Return the spread of each layer's output in train() and in eval()."""
    drawing, names = Drawing(), [each.name for each in visits]
    line = [3 if name == chosen else 0 for name in names]
    values = (
        ("train()", [each.train_std for each in visits], "backward"),
        ("eval()", [each.eval_std for each in visits], "forward"),
    )
    for title, stds, word in values:
        drawing.bar(
            orientation="h", y=names, x=stds, name=title,
            marker={"color": look.color(word),
                    "line": {"width": line, "color": look.color("text")}},
            hovertemplate="%{y}: %{x:.4g}<extra>" + title + "</extra>",
        )  # fmt: skip
    refused = [each for each in visits if each.error]
    for each in refused:
        drawing.note(x=each.eval_std, y=each.name, text="✗ train()", xanchor="left", xshift=6)
    most = max(max(each.eval_std, each.train_std or 0) for each in visits)
    title = _("standard deviation of the output")
    parts = [
        f"{each.name} {'ValueError' if each.train_std is None else f'{each.train_std:.3g}'}"
        f" / {each.eval_std:.3g}"
        for each in visits
    ]
    alt = _("Standard deviation of the output in train() / eval(): {parts}.").format(
        parts=_(", ").join(parts)
    )
    room = ROOM[look.present] if refused else 0.05
    axes: dict[str, dict[str, Any]] = {
        "xaxis": {"title": {"text": title}, "range": [0, most * (1 + room)]},
        "yaxis": {"autorange": "reversed"},
    }
    figure = drawing.figure(_layout(look, axes))
    return Picture(figure=figure, alt=alt, table=_zoo_table(visits))


def _zoo_table(visits: Sequence[Visit]) -> dict[str, list[Any]]:
    return {
        _("layer"): [each.name for each in visits],
        _("parameters"): [each.num_params for each in visits],
        _("input"): [str(each.input_shape) for each in visits],
        _("output"): [str(each.output_shape) for each in visits],
        _("std in train()"): [each.train_std for each in visits],
        _("std in eval()"): [each.eval_std for each in visits],
        _("torch says"): [each.error for each in visits],
    }


def _layout(look: Look, axes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    layout = look.layout()
    return layout | {
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": 2.6 * layout["font"]["size"], "b": 8},
        **{name: {**layout[name], "fixedrange": True, **axis} for name, axis in axes.items()},
    }
