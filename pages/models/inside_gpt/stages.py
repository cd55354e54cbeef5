"""Stage by stage: every tensor of one forward pass, with the line of the model that made it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.catalogue.as_config import config_of
from core.budget.compute.stage_numbers import stage_bytes, stage_flops
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.models.stages import Stage
from core.models.walk import walk
from core.train.text.pieces import vocabulary_signs
from core.units import format_count, format_exact
from pages.models.inside_gpt.attention import no_head
from pages.models.inside_gpt.inputs import ASK, Case, at_the_start, opening
from pages.models.inside_gpt.maps import Map, Rows, Scale, draw_maps
from pages.shared.page_links import show_link
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import locked, look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

TITLES: Final[Mapping[str, str]] = {
    "embedding": N_("Token embedding"),
    "positions": N_("Position embedding"),
    "norm_1": N_("LayerNorm 1"),
    "attention.qkv": N_("q, k, v projection"),
    "attention.heads": N_("Split into heads"),
    "attention.scores": N_("Attention scores"),
    "attention.mask": N_("Causal mask"),
    "attention.softmax": N_("Softmax"),
    "attention.mix": N_("Mix of the values"),
    "attention.merge": N_("Heads merged"),
    "attention.out": N_("Output projection"),
    "residual_1": N_("Residual sum 1"),
    "norm_2": N_("LayerNorm 2"),
    "feed_forward.up": N_("Feed-forward: up"),
    "feed_forward.activation": N_("Feed-forward: GELU"),
    "feed_forward.out": N_("Feed-forward: down"),
    "residual_2": N_("Residual sum 2"),
    "norm": N_("Final LayerNorm"),
    "logits": N_("Logits"),
}
START: Final = "attention.scores"
_SPLIT: Final = "y = x.transpose(1, 2)\nz = rearrange(y, 'B H T D -> B T (H D)')"
_TURNED: Final = "k = x.transpose(1, 2)\ny = k.transpose(-2, -1)"
_CODES: Final = {"heads": _SPLIT, "merge": _SPLIT, "scores": _TURNED}
_LEAST: Final = "128"  # tokens of a sequence there, of which a model reads as many as it can
_OUTSIDE: Final = ("embedding", "positions", "norm", "logits")
_STAGE = """from core.models.walk import walk
{imports}
opened = {opened}
for stage in walk(opened.model, [{ids}]):
    if stage.name == "{name}":
        shapes = [tuple(each.shape) for each in stage.outputs.values()]
        print(stage.equation, shapes, stage.num_bytes, "bytes", stage.flops, "FLOPs")
        print(stage.source)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """Which part of a stage is looked at."""

    title: str  # what the stage is called
    head: int  # of tensors with heads, from 0
    pieces: Sequence[str]  # a sign for each token
    vocabulary: Sequence[str]  # a sign for each token of the vocabulary


def choose_stage() -> str:
    """Ask for a stage of the chosen layer, in the order of the forward pass."""
    keys = tuple(TITLES)
    key = ASK.selectbox("stage", _("Stage"), keys, default=START, labels=lambda key: _(TITLES[key]))
    here = keys.index(key)
    if presenting():  # no room: the arrow keys lead through the list
        return key
    with st.container(horizontal=True, key=ASK.key("steps")):
        _step(_("Earlier"), ":material/chevron_left:", keys[:here][-1:])
        _step(_("Later"), ":material/chevron_right:", keys[here + 1 :][:1])
    return key


def _step(label: str, icon: str, to: tuple[str, ...]) -> None:
    st.button(
        label,
        key=f"{ASK.key('to')}_{icon.rpartition('_')[2].strip(':')}",
        icon=icon,
        disabled=locked() or not to,
        on_click=partial(ASK.set, "stage", *(to or (START,))),
    )


def stages(case: Case, key: str) -> Shown:
    if not case.token_ids:
        return Shown(headline=_("Type a text in the first tab: its stages stand here"))
    name = key if key in _OUTSIDE else f"blocks.{case.layer}.{key}"
    (stage,) = [each for each in walk(case.opened.model, case.token_ids) if each.name == name]
    shape, tokenizer = case.opened.model.shape, case.opened.tokenizer
    seen = Seen(
        title=_(TITLES[key]),
        head=case.head or 0,
        pieces=case.pieces,
        vocabulary=vocabulary_signs(tokenizer, range(tokenizer.vocab_size)),
    )
    numbers = [(_("Bytes"), stage_bytes(stage, shape))]
    if stage.flops:
        numbers.append((_("FLOPs"), stage_flops(stage, shape)))
    return Shown(
        headline=_headline(stage, seen),
        charts=[Chart(picture=stage_picture(stage, seen, look()), file_name=f"stage-{key}")],
        numbers=[] if presenting() else numbers,
        notes=[] if presenting() else _notes(stage, case),
        below=partial(_below, stage, case),
        code=_STAGE.format(**opening(case), name=name),
    )


def _headline(stage: Stage, seen: Seen) -> str:
    tensor = next(iter(stage.outputs.values()))
    words = _("{title}: `{equation}`, {shape} numbers, {flops} matmul FLOPs")
    if len(stage.outputs) > 1:
        words = _("{title}: `{equation}`, {count} times {shape} numbers, {flops} matmul FLOPs")
    return words.format(
        title=seen.title,
        equation=stage.equation,
        count=len(stage.outputs),
        shape=" × ".join(map(str, tensor.shape)),
        flops=format_count(stage.flops) if stage.flops else "0",
    )


def _notes(stage: Stage, case: Case) -> list[str]:
    notes = []
    shown, count = shown_columns(stage)
    if shown < count:
        words = _("The first {shown} of {count} columns are drawn.")
        notes.append(words.format(shown=format_exact(shown), count=format_exact(count)))
    if case.head is None and any("H" in axes for axes in stage.axes.values()):
        notes.append(no_head())
    return notes


def _below(stage: Stage, case: Case) -> None:
    """Show the line that made the tensor, and where else it can be looked at."""
    place = "" if presenting() else f"  # {stage.source.file}:{stage.source.line}"
    st.code(stage.source.text + place, language="python", wrap_lines=True)
    if not presenting():
        with st.container(horizontal=True, key=ASK.key("elsewhere")):
            _links(stage, case)


def _links(stage: Stage, case: Case) -> None:
    shape, num_tokens = case.opened.model.shape, str(len(case.token_ids))
    if stage.kind in _CODES:
        query = {
            "strides_code": _CODES[stage.kind],
            "strides_leading": f"1, {num_tokens}",
            "strides_rows": str(shape.num_heads),
            "strides_columns": str(shape.head_dim),
        }
        show_link("tensors/strides_and_views", _("Its strides and views →"), query)
    if stage.layer is None:
        return
    by_hand = stage.kind in {"scores", "mask", "softmax", "mix"}
    graph = {"graph_of": "block_full" if by_hand else "block", "graph_number": num_tokens}
    show_link("autograd/computation_graph", _("The computation graph of a GPT-2 block →"), graph)
    memory = {"plan_model": "own", "plan_config": config_of(shape), "plan_length": _LEAST}
    show_link("plan/training_memory", _("What training keeps of every block →"), memory)


HEIGHT_PX: Final = 330
PRESENT_HEIGHT_PX: Final = 310  # there is a line of code below it
MOST_COLUMNS: Final = 256
_SCALES: Final[dict[str, Scale]] = {"softmax": "weight"}


def stage_picture(stage: Stage, seen: Seen, look: Look) -> Picture:
    """Return a heat map for each tensor that a stage made: a row a token."""
    drawing = Drawing()
    maps = [_map(stage, name, seen) for name in stage.outputs]
    height = PRESENT_HEIGHT_PX if look.present else HEIGHT_PX
    layout = draw_maps(drawing, maps, seen.pieces, look, height)
    return Picture(
        figure=drawing.figure(layout), alt=_sentence(stage, maps, seen), table=_table(maps, seen)
    )


def shown_columns(stage: Stage) -> tuple[int, int]:
    """Return how many columns of a stage's tensors are drawn, and how many there are."""
    num_columns = next(iter(stage.outputs.values())).shape[-1]
    return min(num_columns, MOST_COLUMNS), num_columns


def _map(stage: Stage, name: str, seen: Seen) -> Map:
    axes, tensor = stage.axes[name], stage.outputs[name]
    # A row a token of the first text, of one head.
    matrix = tensor[0, seen.head] if "H" in axes else tensor[0]
    rows: Rows = matrix[:, :MOST_COLUMNS].tolist()
    head = _("{name}, head {number}").format(name=name, number=seen.head + 1)
    return Map(
        title=head if "H" in axes else name,
        rows=rows,
        scale=_SCALES.get(stage.kind, "signed"),
        columns=_columns(axes[-1], len(rows[0]), seen),
    )


def _columns(axis: str, count: int, seen: Seen) -> list[str]:
    if axis == "S":
        return list(seen.pieces[:count])
    if axis == "V":
        return list(seen.vocabulary[:count])
    return [_("channel {number}").format(number=number) for number in range(count)]


def _sentence(stage: Stage, maps: Sequence[Map], seen: Seen) -> str:
    message = _("{title}: {tokens} tokens by {columns} numbers, from {low} to {high}")
    parts = []
    for each in maps:
        finite = [value for row in each.rows for value in row if math.isfinite(value)]
        parts.append(
            message.format(
                title=each.title,
                tokens=format_exact(len(seen.pieces)),
                columns=format_exact(len(each.rows[0])),
                low=f"{min(finite):.3g}",
                high=f"{max(finite):.3g}",
            )
        )
    whole = _("{stage} ({name}). {parts}.")
    return whole.format(stage=seen.title, name=stage.name, parts=_("; ").join(parts))


def _table(maps: Sequence[Map], seen: Seen) -> Table:
    """Return a row a token: its numbers, or of many the smallest, the mean and the largest."""
    table: dict[str, list[object]] = {_("token"): list(seen.pieces)}
    for each in maps:
        if len(each.rows[0]) <= 64:
            for number in range(len(each.rows[0])):
                table[f"{each.title} {number}"] = [f"{row[number]:.4g}" for row in each.rows]
            continue
        table[_("{title}: smallest").format(title=each.title)] = [_short(min(r)) for r in each.rows]
        table[_("{title}: mean").format(title=each.title)] = [
            _short(sum(row) / len(row)) for row in each.rows
        ]
        table[_("{title}: largest").format(title=each.title)] = [_short(max(r)) for r in each.rows]
    return table


def _short(value: float) -> str:
    return f"{value:.4g}"


def ask_for_the_costly_stage() -> None:
    """Ask which part of a block takes most FLOPs; they are those of a real pass."""
    trained, token_ids = at_the_start()
    spent = {"projection": 0, "scores": 0, "feed_forward": 0}
    for stage in walk(trained.model, token_ids):
        kind = "scores" if stage.kind == "mix" else stage.kind
        if stage.layer == 0 and kind in spent:
            spent[kind] += stage.flops
    words = {key: format_count(flops) for key, flops in spent.items()}
    predict_then_reveal(
        ASK.key("costly_stage"),
        _("A block reads {count} tokens. Which of its parts takes the most FLOPs?").format(
            count=len(token_ids)
        ),
        [
            Choice(
                _("Scores and mix of attention"),
                _("They grow with the square of the text: {flops} here. A short text is cheap.")
                .format(flops=words["scores"]),
            ),
            Choice(_("The two matrices of the feed-forward layer")),
            Choice(
                _("The projections to q, k, v and back"),
                _("They are four matrices of C × C, {flops} here; feed-forward has twice as many.")
                .format(flops=words["projection"]),
            ),
        ],
        _(
            "Feed-forward takes {most} FLOPs, the projections {half}, scores and mix {scores}. "
            "Scores and mix overtake only when the text is longer than about four times the width."
        ).format(most=words["feed_forward"], half=words["projection"], scores=words["scores"]),
    )  # fmt: skip


TAB: Final = Tab(
    label=N_("Stage by stage"),
    show=stages,
    choose=choose_stage,
    unseen=("with",),
    question=ask_for_the_costly_stage,
    reading="stages",
)
