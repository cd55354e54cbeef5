"""Collectives: bytes on their way between devices, and an all-reduce of small arrays by steps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.budget import at_peak
from core.budget.item import Item
from core.budget.parallel.collectives import (
    MAX_RANKS,
    NAMES,
    Collective,
    Pattern,
    collectives,
    nodes,
)
from core.budget.parallel.communication import AXIS_NAMES
from core.budget.parallel.ranks import BETWEEN, INSIDE
from core.budget.parallel.ring import RingStep, bytes_sent, ring_all_reduce
from core.budget.training.memory import training_budget
from core.figures.budget.frames import bare_rows, text_size
from core.figures.budget.stacked_parts import by_meaning
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _, ngettext
from pages.components.moving_bytes.moving_bytes import Device, Texts, moving_bytes, moving_rows
from pages.plan.parallelism.inputs import ASK, Case
from pages.plan.parallelism.programs import show_program
from pages.plan.parallelism.question import ask_about_the_ring
from pages.shared.charts import show_table
from pages.shared.plan.plan import note_length
from pages.shared.settings import locked, look, presenting
from pages.shared.tabbed_page import Chart, Part, Shown, Tab

PATTERN_NAMES: Final[dict[Pattern, str]] = {
    "all-reduce": N_("all-reduce"),
    "reduce-scatter": N_("reduce-scatter"),
    "all-gather": N_("all-gather"),
    "all-to-all": N_("all-to-all"),
    "ring": N_("send to the next, receive from the one before"),
    "forward": N_("send to the next stage"),
    "backward": N_("send to the stage before"),
}
MEANINGS: Final = {
    "weights": N_("weights"),
    "gradients": N_("gradients"),
    "optimizer": N_("optimizer"),
    "activations": N_("activations"),
    "temporary": N_("temporary"),
    "other": N_("other"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rank:
    """What one device holds."""

    number: int  # its place in the group
    node: int  # the machine that it is in
    held: dict[str, int]  # meaning of a colour -> bytes

    @property
    def num_bytes(self) -> int:
        return sum(self.held.values())


def ranks_of(
    collective: Collective, nodes: Sequence[int], stages: Sequence[Sequence[Item]]
) -> tuple[Rank, ...]:
    """Return the devices of a group; those of a pipeline hold different parts of the model."""
    is_pipeline = collective.axis == "pipeline"
    return tuple(
        Rank(
            number=number,
            node=node,
            held=by_meaning(stages[number if is_pipeline else collective.stage]),
        )
        for number, node in enumerate(nodes)
    )


def heights(rank: Rank, highest: float) -> list[tuple[str, float]]:
    """Return how high each part of a bar is, of a whole of 1."""
    return [(meaning, size / highest) for meaning, size in rank.held.items()]


def collective_name(collective: Collective) -> str:
    """Return what it is and who takes part: "all-gather of weights · data parallel"."""
    return f"{_(collective.item.name)} · {_(AXIS_NAMES[collective.axis])}"


def rank_said(rank: Rank, capacity: float, look: Look) -> str:
    parts = _(", ").join(
        _("{name} {size}").format(name=_(MEANINGS[meaning]), size=look.format_bytes(size))
        for meaning, size in rank.held.items()
    )
    return _("Device {number}, node {node}: {held} of {capacity}: {parts}.").format(
        number=rank.number,
        node=rank.node,
        held=look.format_bytes(rank.num_bytes),
        capacity=look.format_bytes(capacity),
        parts=parts,
    )


def phases(collective: Collective) -> list[str]:
    return [_(PATTERN_NAMES[turn.pattern]) for turn in collective.turns]


def sentences(collective: Collective, look: Look) -> Iterator[str]:
    num_turns = len(collective.turns)
    values = {
        "count": num_turns,
        "message": look.format_bytes(collective.num_bytes),
        "whole": look.format_bytes(collective.sent(num_turns)),
        "who": _("Each device"),
    }
    if collective.axis == "pipeline":
        values["who"] = _("A device of stage {stage}").format(stage=collective.stage)
    yield _("Before the first of {count} steps. {who} sends {whole}, {message} at a time.").format(
        **values
    )
    for turn in range(1, num_turns + 1):
        sent = look.format_bytes(collective.sent(turn))
        yield _("After step {turn} of {count}. {who} has sent {sent} of {whole}.").format(
            turn=turn, sent=sent, **values
        )


def moving_sentence(collective: Collective, look: Look) -> str:
    """Return what a device sends in a training step, and in one call."""
    return _(
        "A device sends {whole} in a training step for its {name}: {times} × {sent}, in {turns} "
        "steps each"
    ).format(
        name=_(collective.item.name),
        sent=look.format_bytes(collective.sent(len(collective.turns))),
        turns=len(collective.turns),
        times=f"{collective.times:,}",
        whole=look.format_bytes(collective.item.amount),
    )


def moving_table(found: Sequence[Collective], look: Look) -> Table:
    return {
        _("collective"): [collective_name(each) for each in found],
        _("devices"): [each.num_ranks for each in found],
        _("one message"): [look.format_bytes(each.num_bytes) for each in found],
        _("times"): [f"{each.times:,}" for each in found],
        _("sent in a step"): [look.format_bytes(each.item.amount) for each in found],
    }


_ROW_PX: Final = 62
_ROWS_PX: Final = 260  # of all rows together, at most
PHASES: Final[Mapping[str, str]] = {
    "start": N_("start: every rank has its own array"),
    "reduce-scatter": N_("reduce-scatter: the right neighbour adds what comes"),
    "all-gather": N_("all-gather: the right neighbour keeps what comes"),
}


def ring_picture(steps: Sequence[RingStep], number: int, look: Look) -> Picture:
    """Return the ranks as rows and the chunks as columns after a step.

    A square is the darker the more ranks' values are in its sum; what moved in this step has a
    frame, and an arrow comes from the rank that sent it.
    """
    step = steps[number]
    num_ranks, size = len(step.values), text_size(look)
    drawing = Drawing()
    _draw_squares(drawing, step, look, size)
    for send in step.sends:
        _draw_arrow(drawing, send.chunk, send.source, send.target, look.color("gradients"))
    places = list(range(num_ranks))
    figure = bare_rows(
        drawing,
        look,
        x={
            "side": "top",
            "tickvals": places,
            "ticktext": [_("chunk {number}").format(number=place) for place in places],
            "range": [-0.5, num_ranks - 0.5],
        },
        y={
            "tickvals": places,
            "ticktext": [_("rank {number}").format(number=place) for place in places],
            "range": [num_ranks - 0.45, -0.8],
        },
        height=round(min((num_ranks + 0.25) * _ROW_PX, _ROWS_PX)) + 3 * size,
        top=2 * size,
        showlegend=False,
    )
    return Picture(figure=figure, alt=_ring_alt(steps, number), table=_ring_table(step))


def _draw_squares(drawing: Drawing, step: RingStep, look: Look, size: int) -> None:
    num_ranks = len(step.values)
    drawing.trace(
        "heatmap", z=[[len(ranks) / num_ranks for ranks in row] for row in step.ranks_in], zmin=0,
        zmax=1.4, colorscale=[[0, look.color("surface")], [1, look.color("activations")]],
        showscale=False, xgap=6, ygap=6,
        text=[[_written(chunk) for chunk in row] for row in step.values], texttemplate="%{text}",
        textfont={"size": size + 3, "color": look.color("text")},
        customdata=[[", ".join(map(str, sorted(ranks))) for ranks in row] for row in step.ranks_in],
        hovertemplate=_("from ranks: {ranks}").format(ranks="%{customdata}") + "<extra></extra>",
    )  # fmt: skip


def _written(chunk: Sequence[float]) -> str:
    return ", ".join(f"{value:.0f}" for value in chunk)


def _draw_arrow(drawing: Drawing, chunk: int, source: int, target: int, color: str) -> None:
    """Frame what came and draw the way that it took; from the last rank it goes round."""
    drawing.shape(
        type="rect", x0=chunk - 0.46, x1=chunk + 0.46, y0=target - 0.42, y1=target + 0.42,
        line={"color": color, "width": 3},
    )  # fmt: skip
    goes_round = target < source
    drawing.note(
        x=chunk + 0.36, y=target - 0.3, ax=chunk + 0.36,
        ay=-0.78 if goes_round else source + 0.1,
        xref="x", yref="y", axref="x", ayref="y", text="",
        showarrow=True, arrowhead=2, arrowwidth=2.5, arrowcolor=color,
    )  # fmt: skip


def step_title(step: RingStep) -> str:
    return _(PHASES[step.phase])


def _ring_alt(steps: Sequence[RingStep], number: int) -> str:
    step = steps[number]
    num_ranks = len(step.values)
    finished = sum(len(ranks) == num_ranks for row in step.ranks_in for ranks in row)
    return ngettext(
        "A ring of {ranks} ranks after step {number} of {steps}, {phase}: {count} of {squares} "
        "squares holds the whole sum; each rank has sent {sent} bytes.",
        "A ring of {ranks} ranks after step {number} of {steps}, {phase}: {count} of {squares} "
        "squares hold the whole sum; each rank has sent {sent} bytes.",
        finished,
    ).format(
        ranks=num_ranks, number=number, steps=len(steps) - 1, phase=step_title(step),
        count=finished, squares=num_ranks**2, sent=bytes_sent(steps[: number + 1], rank=0),
    )  # fmt: skip


def _ring_table(step: RingStep) -> Table:
    columns = {
        _("chunk {number}").format(number=chunk): [_written(row[chunk]) for row in step.values]
        for chunk in range(len(step.values))
    }
    return {_("rank"): list(range(len(step.values))), **columns}


RANKS: Final = (2, 3, 4, 5, 6)
CODE_OF_THE_RING: Final = """
N = {num_ranks}
held = [[(chunk + 1) * 10.0**rank for chunk in range(N)] for rank in range(N)]
for step in range(2 * (N - 1)):  # first the sums are made, then they go round
    adds = step < N - 1
    turn = step if adds else step - N  # the chunk that rank r passes on is r - turn
    sent = [held[rank][(rank - turn) % N] for rank in range(N)]  # all at the same time
    for rank in range(N):
        right, chunk = (rank + 1) % N, (rank - turn) % N
        held[right][chunk] = sent[rank] + (held[right][chunk] if adds else 0)
    phase = "reduce-scatter" if adds else "all-gather"
    print(step + 1, phase, held[0], 4 * (step + 1), "bytes sent, in fp32")
"""


def choose_ring() -> tuple[int, int]:
    """Return the ranks of the ring, and the step after which to look."""
    num_ranks = ASK.segmented("ring_ranks", _("Ranks in the ring"), RANKS, default=4)
    last = 2 * (num_ranks - 1)
    asked = ASK.slider("ring_step", _("After step"), 0, last, default=2, step=1)
    st.button(
        _("Next step"),
        key="parallel_next",
        icon=":material/skip_next:",
        disabled=locked() or asked >= last,
        on_click=ASK.set,
        args=("ring_step", asked + 1),
    )
    return num_ranks, asked


def ring(wanted: tuple[int, int]) -> Shown:
    num_ranks, number = wanted
    steps = ring_steps(num_ranks)
    picture = ring_picture(steps, number, look())
    return Shown(
        headline=_ring_sentence(steps, number),
        charts=[Chart(picture=picture, file_name="ring-all-reduce")],
        below=partial(show_program, "torchrun"),
        code=CODE_OF_THE_RING.format(num_ranks=num_ranks),
    )


def ring_steps(num_ranks: int) -> tuple[RingStep, ...]:
    """Return the steps for arrays whose digits tell which ranks are in a sum.

    Chunk c of rank r holds (c + 1) * 10**r: in 3303 the ranks 0, 2 and 3 are added up.
    """
    return ring_all_reduce(
        [[float((chunk + 1) * 10**rank) for chunk in range(num_ranks)] for rank in range(num_ranks)]
    )


def _ring_sentence(steps: tuple[RingStep, ...], number: int) -> str:
    sent, whole = bytes_sent(steps[: number + 1], rank=0), 4 * len(steps[0].values)
    return _(
        "Step {number} of {last}, {title}; each rank has sent {sent} bytes, {ratio} times its array"
    ).format(
        number=number,
        last=len(steps) - 1,
        title=step_title(steps[number]),
        sent=sent,
        ratio=f"{sent / whole:.3g}",
    )


MOST: Final = "most"
ARRAYS: Final = "arrays"
ROOM: Final = 380  # pixels of the picture
PRESENT_ROOM: Final = 400
CODE: Final = """
num_ranks, message = {num_ranks}, {message:_}  # bytes of one message
{rule}
print(f"a device sends {{sent:,}} bytes in one call, {{{times} * sent:,}} in a training step")
"""
RULES: Final = {
    "all-reduce": "sent = 2 * (num_ranks - 1) * message  # reduce-scatter, then all-gather",
    "forward": "sent = {num_messages} * message  # once for each time that a micro-batch comes by",
    "other": "sent = (num_ranks - 1) * message  # all chunks but one",
}


def choose_collective() -> str | tuple[int, int]:
    """Return the name of a collective, or MOST; of small arrays the ranks and the step."""
    words = {name.replace(",", "").replace(" ", "-"): name for name in NAMES}
    labels = {
        MOST: N_("the one that sends most"),
        ARRAYS: N_("all-reduce of small arrays"),
        **words,
    }
    key = ASK.selectbox("collective", _("Collective"), labels, default=MOST)
    return choose_ring() if key == ARRAYS else words.get(key, MOST)


def moving(case: Case, name: str) -> Shown:
    """Show the devices of one group and let the bytes of its collective move.

    Raises:
        ValueError: If this way to divide has no such collective.
    """
    note_length(case.chosen, "train")
    found = collectives(case.spec, case.recipe, case.cluster)
    if not found:
        return Shown(headline=_("One device sends nothing: no bytes move"), code=case.code)
    chosen = _find(found, name)
    if chosen.num_ranks > MAX_RANKS:
        return _too_many(case, chosen)
    _draw(case, chosen)
    return Shown(
        headline=moving_sentence(chosen, look()),
        part=Part(key=ASK.key("devices"), file_name="moving-bytes"),
        numbers=[(_("Sent in a step"), chosen.item)],
        numbers_below=True,
        below=lambda: _table(found),
        code=_code(chosen),
    )


def _find(found: Sequence[Collective], name: str) -> Collective:
    for each in found:
        if name in (MOST, each.item.name):
            return each
    raise ValueError(
        _("Divided this way, devices have no {name}. They have: {names}.").format(
            name=_(name), names=_(", ").join(_(each.item.name) for each in found)
        )
    )


def _too_many(case: Case, chosen: Collective) -> Shown:
    """Tell the bytes of a group that is too large to be drawn."""
    st.info(
        _("{ranks} devices take part; at most {most} are drawn. Take a smaller size.").format(
            ranks=f"{chosen.num_ranks:,}", most=MAX_RANKS
        )
    )
    headline = _("{name}: {ranks} devices, each sends {whole} in a training step").format(
        name=collective_name(chosen),
        ranks=f"{chosen.num_ranks:,}",
        whole=look().format_bytes(chosen.item.amount),
    )
    return Shown(
        headline=headline,
        numbers=[(_("Sent in a step"), chosen.item)],
        numbers_below=True,
        code=case.code,
    )


def _table(found: Sequence[Collective]) -> None:
    with st.expander(_("All collectives of a training step")):
        show_table(moving_table(found, look()))


def _draw(case: Case, chosen: Collective) -> None:
    budget = training_budget(case.spec, case.recipe, case.cluster)
    stages = [at_peak(stage) for stage in budget.stages]
    ranks = ranks_of(chosen, nodes(chosen, case.cluster), stages)
    highest = max(budget.capacity, *(rank.num_bytes for rank in ranks))
    texts = Texts(
        message=look().format_bytes(chosen.num_bytes),
        phases=phases(chosen),
        sentences=list(sentences(chosen, look())),
        legend=_legend(ranks),
        capacity=_("device: {size}").format(size=look().format_bytes(budget.capacity)),
        links=(_(INSIDE), _(BETWEEN)),
    )
    devices = [_device(rank, budget.capacity, highest) for rank in ranks]
    with st.container(key=f"bound_{ASK.key('moved')}"):
        moved = ASK.text("moved", ASK.key("moved"), default="0", max_chars=4)
    turn = min(int(moved), len(chosen.turns)) if moved.isdecimal() else 0
    moving_bytes(
        moving_rows(chosen, devices, texts, budget.capacity / highest),
        key=ASK.key("devices"),
        turn=turn,
        on_turn=lambda number: ASK.write("moved", number),
        room=PRESENT_ROOM if presenting() else ROOM,
    )


def _device(rank: Rank, capacity: float, highest: float) -> Device:
    return Device(
        label=str(rank.number),
        size=look().format_bytes(rank.num_bytes),
        said=rank_said(rank, capacity, look()),
        node=rank.node,
        parts=heights(rank, highest),
    )


def _legend(ranks: Sequence[Rank]) -> list[tuple[str, str]]:
    used = {meaning for rank in ranks for meaning in rank.held}
    return [(meaning, _(name)) for meaning, name in MEANINGS.items() if meaning in used]


def _code(chosen: Collective) -> str:
    pattern = "forward" if chosen.axis == "pipeline" else chosen.pattern
    rule = RULES.get(pattern, RULES["other"])
    return CODE.format(
        num_ranks=chosen.num_ranks,
        message=chosen.num_bytes,
        rule=rule.format(num_messages=chosen.num_messages(len(chosen.turns))),
        times=chosen.times,
    )


def collective(case: Case, wanted: str | tuple[int, int]) -> Shown:
    """Show one collective of the plan, or the ring of small arrays, which needs no plan."""
    if isinstance(wanted, str):
        return moving(case, wanted)
    st.html("<style>.st-key-page_choices { display: none }</style>")
    return ring(wanted)


TAB: Final = Tab(
    label=N_("Collectives"), show=collective, choose=choose_collective, question=ask_about_the_ring
)
