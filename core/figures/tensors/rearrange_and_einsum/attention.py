"""What each statement of attention allocates, and the weights where there are numbers."""

from collections.abc import Sequence
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture, Table
from core.figures.tensors.rearrange_and_einsum.axes import mixed
from core.language import _
from core.tensors.attention import AttentionRun, Stage

ROW_PX: Final = 36
PRESENT_ROW_PX: Final = 40
_MOST_NUMBERS: Final = 8  # rows of weights whose numbers are written


def attention_picture(run: AttentionRun, look: Look) -> Picture:
    """Return a bar for each statement, as long as what it allocates; beside it the weights."""
    drawing, layout = Drawing(), look.layout()
    size = layout["font"]["size"]
    names = [f"{_(stage.name)} " for stage in run.stages]
    has_weights = run.weights is not None
    for is_hidden in (False, True):
        _draw_bars(drawing, run.stages, names, look, is_hidden=is_hidden)
    for name, stage in zip(names, run.stages, strict=True):
        drawing.note(
            x=stage.num_bytes + stage.hidden_bytes, y=name, xanchor="left", xshift=6,
            text=_written(stage, look),
        )  # fmt: skip
    if has_weights:
        _draw_weights(drawing, run, look)
    most = max(stage.num_bytes + stage.hidden_bytes for stage in run.stages)
    fixed = {"fixedrange": True, "zeroline": False}
    bars = {"visible": False, "range": [0, max(most, 1) * 1.6]}
    axes: dict[str, Any] = {
        "xaxis": layout["xaxis"] | fixed | bars | {"domain": [0, 0.62 if has_weights else 1]},
        "yaxis": layout["yaxis"] | fixed | {"autorange": "reversed", "showgrid": False},
        "height": len(names) * (PRESENT_ROW_PX if look.present else ROW_PX) + 2.6 * size,
        "barmode": "stack",
        "bargap": 0.3,
        "showlegend": True,
        "margin": {"l": 8, "r": 8, "t": 2.2 * size, "b": 4},
    }
    if has_weights:
        axes |= _weight_axes(layout, fixed)
    return Picture(
        figure=drawing.figure(layout | axes), alt=_sentence(run, look), table=_table(run, look)
    )


def _draw_bars(
    drawing: Drawing, stages: Sequence[Stage], names: Sequence[str], look: Look, *, is_hidden: bool
) -> None:
    color = look.color("temporary" if is_hidden else "activations")
    drawing.bar(
        name=_("temporary") if is_hidden else _("result"),
        orientation="h",
        y=list(names),
        x=[stage.hidden_bytes if is_hidden else stage.num_bytes for stage in stages],
        customdata=[stage.code for stage in stages],
        hovertemplate="%{customdata}<extra></extra>",
        marker={
            "color": mixed(color, 0.75, look),
            "line": {"color": color, "width": 1},
            "pattern": {"shape": "/" if is_hidden else "", "fgcolor": color},
        },
    )


def _written(stage: Stage, look: Look) -> str:
    if stage.kind == "view":
        return _("view · 0 B")
    made = look.format_bytes(stage.num_bytes)
    if not stage.hidden_bytes:
        return f"<b>{made}</b>"
    return f"<b>{made}</b> + {look.format_bytes(stage.hidden_bytes)}"


def _draw_weights(drawing: Drawing, run: AttentionRun, look: Look) -> None:
    if run.weights is None:
        return
    writes = run.seq_len <= _MOST_NUMBERS and not look.present
    color = look.color("attention")
    drawing.trace(
        "heatmap",
        z=run.weights.tolist(),
        xaxis="x2",
        yaxis="y2",
        zmin=0,
        zmax=1,
        colorscale=[[0, look.color("background")], [1, mixed(color, 0.8, look)]],
        showscale=False,
        xgap=2,
        ygap=2,
        texttemplate="%{z:.2f}" if writes else "",
        hovertemplate=_("query {q}, key {k}").format(q="%{y}", k="%{x}")
        + ": %{z:.4f}<extra></extra>",
    )


def _weight_axes(layout: dict[str, Any], fixed: dict[str, Any]) -> dict[str, Any]:
    across = {"domain": [0.7, 1], "anchor": "y2", "dtick": 1, "showgrid": False, "side": "top"}
    down = {"anchor": "x2", "autorange": "reversed", "dtick": 1, "showgrid": False}
    title = {"title": _("softmax, head 0"), "showticklabels": False}
    return {
        "xaxis2": layout["xaxis"] | fixed | across | title,
        "yaxis2": layout["yaxis"] | fixed | down | {"showticklabels": False},
    }


def _sentence(run: AttentionRun, look: Look) -> str:
    words = _("{name} {bytes}")
    parts = [
        words.format(name=_(stage.name), bytes=look.format_bytes(stage.num_bytes))
        for stage in run.stages
    ]
    message = _("What each statement allocates for its result, {size}, {tokens} tokens: {parts}.")
    return message.format(
        size=_(run.size.title), tokens=f"{run.seq_len:,}", parts=_("; ").join(parts)
    )


def _table(run: AttentionRun, look: Look) -> Table:
    kinds = {"view": _("view"), "copy": _("copy"), "new": _("new")}
    return {
        _("statement"): [stage.code for stage in run.stages],
        _("kind"): [kinds[stage.kind] for stage in run.stages],
        _("shape"): [str(stage.shape) for stage in run.stages],
        _("result"): [look.format_bytes(stage.num_bytes) for stage in run.stages],
        _("temporary"): [look.format_bytes(stage.hidden_bytes) for stage in run.stages],
        "FLOPs": [stage.flops for stage in run.stages],
    }
