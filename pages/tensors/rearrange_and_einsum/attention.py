"""Attention from end to end, by hand and fused: what each statement copies and allocates."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.tensors.attention import (
    SIZES,
    AttentionRun,
    AttentionSize,
    Stage,
    by_hand,
    fused,
    largest_difference,
    run_attention,
    weight_per_head,
)
from core.units import format_exact
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.shared.tensors.table_cells import kind_text, size_text
from pages.tensors.rearrange_and_einsum.inputs import ASK, mixed, written

TOY_LENGTHS: Final = (2, 3, 4, 5, 6, 8, 12, 16)
LENGTHS: Final = (128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
PROGRAMS: Final[Mapping[str, str]] = {
    "hand": N_("Step by step"),
    "sdpa": "SDPA",
    "linear": N_("Per head"),
}
ROW_PX: Final = {False: 36, True: 40}  # on a projector True
_MOST_NUMBERS: Final = 8  # rows of weights whose numbers are written
_ATTENTION: Final = """
import torch
import torch.nn.functional as F
from einops import einsum, rearrange

{written}

torch.manual_seed(0)
{tensors}

{source}
{prints}
"""
_SCORES: Final = 'print("scores", size(scores.nbytes), "softmax", size(weights.nbytes))'
_DIFFERENCE: Final = """
fused = F.scaled_dot_product_attention(qh, kh, vh)
print("largest difference from SDPA", (y - fused).abs().max().item())"""
_FUSED: Final = """
scores = qh @ kh.transpose(-2, -1)
print("result", size(y.nbytes), "no scores of", size(scores.nbytes))"""
Chosen = tuple[AttentionSize, int, str]


def choose_attention() -> Chosen:
    size = SIZES[
        ASK.segmented(
            "model", _("Size"), tuple(SIZES), default="toy", labels=lambda key: _(SIZES[key].title)
        )
    ]
    program = ASK.segmented(
        "program",
        _("Program"),
        tuple(PROGRAMS),
        default="hand",
        labels=lambda key: _(PROGRAMS[key]),
        help=_(
            "Step by step: scores, softmax and weighted sum. SDPA: torch's fused kernel. Per head: "
            "one small matrix for all heads."
        ),
    )
    if size.has_data:
        tokens = ASK.select_slider("toy_len", _("Sequence length"), TOY_LENGTHS, default=4)
    else:
        tokens = ASK.select_slider(
            "seq_len", _("Sequence length"), LENGTHS, default=8192, labels=format_exact
        )
    return size, tokens, program


def attention(chosen: Chosen) -> Shown:
    size, tokens, program = chosen
    is_traced = size.has_data or program != "sdpa"
    run = run_attention(size, tokens, _lines(program, is_traced=is_traced)(size, tokens))
    picture = attention_picture(run, look())
    return Shown(
        headline=_HEADLINES[program if is_traced else "hand"](run),
        charts=[Chart(picture=picture, file_name="attention")],
        notes=_notes(run, program, is_traced=is_traced),
        below=None if presenting() else lambda: _show_statements(run),
        code=_code(run, program if is_traced else "hand", unit_system()),
    )


def _lines(program: str, *, is_traced: bool) -> Callable[[AttentionSize, int], Mapping[str, str]]:
    if not is_traced or program == "hand":
        return by_hand
    return fused if program == "sdpa" else weight_per_head


def _headline_by_hand(run: AttentionRun) -> str:
    words = {
        "tokens": format_exact(run.seq_len),
        "scores": size_text(run.stage("scores").num_bytes),
        "merge": size_text(run.stage("merge").num_bytes),
    }
    message = _(
        "Attention by hand, {tokens} tokens: scores and softmax {scores} each, split 0 B, merge "
        "{merge}"
    )
    return message.format(**words)


def _headline_sdpa(run: AttentionRun) -> str:
    scores = run_attention(run.size, run.seq_len, by_hand(run.size, run.seq_len)).stage("scores")
    message = _(
        "SDPA, {tokens} tokens: result {made}, no scores of {scores} in memory, and the merge is a "
        "view"
    )
    return message.format(
        tokens=format_exact(run.seq_len),
        made=size_text(run.stage("SDPA").num_bytes),
        scores=size_text(scores.num_bytes),
    )


def _headline_linear(run: AttentionRun) -> str:
    message = _("Split and merge are views; the product of each head takes {made} in all")
    if run.result is not None:
        message = _(
            "Split and merge are views; the product of each head takes {made} in all, and every "
            "element is {value}"
        )
    value = "" if run.result is None else f"{run.result.flat[0]:.1f}"
    return message.format(made=size_text(run.stage("multiply").num_bytes), value=value)


_HEADLINES: Final = {"hand": _headline_by_hand, "sdpa": _headline_sdpa, "linear": _headline_linear}


def _notes(run: AttentionRun, program: str, *, is_traced: bool) -> list[str]:
    notes = []
    if not run.size.has_data:
        notes.append(
            _(
                "The sizes of one layer: {heads} query heads and {kv} KV heads of {dim}. Nothing "
                "is allocated: torch runs on tensors without data."
            ).format(heads=run.size.num_heads, kv=run.size.num_kv_heads, dim=run.size.head_dim)
        )
    if not is_traced:
        notes.append(
            _(
                "This is attention by hand: without data, torch decomposes SDPA into these same "
                "steps, so its own kernel can be seen at toy size only."
            )
        )
    if program == "hand" and run.size.has_data:
        difference = largest_difference(run.size, run.seq_len)
        notes.append(
            _(
                "No mask. The result differs from F.scaled_dot_product_attention by at most "
                "{difference}."
            ).format(difference=f"{difference:.1e}")
        )
    return notes


def _show_statements(run: AttentionRun) -> None:
    stages = run.stages
    show_table(
        {
            _("Statement"): [f"`{stage.code}`" for stage in stages],
            _("What it is"): [kind_text(stage.kind) for stage in stages],
            _("Shape"): [str(stage.shape) for stage in stages],
            _("Result"): [size_text(stage.num_bytes) for stage in stages],
            _("Temporary"): [size_text(stage.hidden_bytes) for stage in stages],
        }
    )


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
    if run.weights is not None:
        _draw_weights(drawing, run.weights, look)
    most = max(stage.num_bytes + stage.hidden_bytes for stage in run.stages)
    fixed = {"fixedrange": True, "zeroline": False}
    bars = {"visible": False, "range": [0, max(most, 1) * 1.6]}
    axes: dict[str, Any] = {
        "xaxis": layout["xaxis"] | fixed | bars | {"domain": [0, 0.62 if has_weights else 1]},
        "yaxis": layout["yaxis"] | fixed | {"autorange": "reversed", "showgrid": False},
        "height": len(names) * (ROW_PX[look.present]) + 2.6 * size,
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


def _draw_weights(drawing: Drawing, weights: NDArray[np.float64], look: Look) -> None:
    writes = len(weights) <= _MOST_NUMBERS and not look.present
    color = look.color("attention")
    drawing.trace(
        "heatmap",
        z=weights.tolist(),
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


def _code(run: AttentionRun, program: str, unit: str) -> str:
    first, *lines, last = [stage.code for stage in run.stages]
    ends = {
        "hand": _SCORES + (_DIFFERENCE if run.size.has_data else ""),
        "sdpa": _FUSED.strip(),
        "linear": 'print("product", size(y.nbytes)'
        + (', "all", merged.flatten()[0].item())' if run.size.has_data else ")"),
    }
    split, given = first.partition(" = ")[0], "x" if program == "linear" else "q"
    shares = [_shared("split", split, given), _shared("merge", "merged", "y")]
    return _ATTENTION.format(
        written=written(unit),
        tensors="\n".join(_inputs(run, program)),
        source="\n".join([first, *lines, f"merged = {last}"]),
        prints="\n".join([*shares, ends[program]]),
    )


def _shared(what: str, result: str, given: str) -> str:
    """Return a line that prints what a result took: nothing, if it shares the storage."""
    is_view = f"{result}.untyped_storage()._cdata == {given}.untyped_storage()._cdata"
    return f'print("{what}", size(0 if {is_view} else {result}.nbytes))'


def _inputs(run: AttentionRun, program: str) -> list[str]:
    size = run.size
    wide, narrow = (
        (size.batch_size, run.seq_len, heads * size.head_dim)
        for heads in (size.num_heads, size.num_kv_heads)
    )
    shapes: dict[str, tuple[int, ...]] = {"q": wide, "k": narrow, "v": narrow}
    if program == "linear":
        shapes = {"x": wide, "w": (size.head_dim, size.head_dim)}
    make = "torch.ones({})" if program == "linear" else "torch.randn({})"
    if not size.has_data:
        make = f'torch.empty({{}}, dtype=torch.{size.dtype}, device="meta")'
    return [f"{name} = {make.format(shape)}" for name, shape in shapes.items()]


TAB: Final = Tab(label=N_("Attention"), show=attention, choose=choose_attention)
