"""Which tensor was asked for, who held the rest, and what would have been enough."""

from collections.abc import Sequence
from typing import Final

from core.budget.diagnosis.moments import moment_of, step_totals
from core.budget.diagnosis.out_of_memory import OutOfMemory
from core.budget.diagnosis.sentences import (
    elsewhere_sentence,
    exact,
    out_of_memory_sentence,
    product,
    what,
)
from core.budget.diagnosis.suspects import Suspect, find_suspects, held_states
from core.budget.item import Item
from core.budget.planning.plan import Count, Plan
from core.figures.budget.frames import NAMED_BAR, name_above, rows_of_bars
from core.figures.budget.stacked_parts import capacity_line, legend_below, small_together, stack
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from pages.shared.plan.verdict import show_changes
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

CODE: Final = """
# What torch asks the device for, {asked}, is a whole segment: see its caching allocator.
num_bytes = {python}
segment = 2 * 2**20 if num_bytes <= 2**20 else 20 * 2**20 if num_bytes < 10 * 2**20 else (
    -(-num_bytes // (2 * 2**20)) * 2 * 2**20
)
print(f"{{num_bytes:,}} bytes are asked for as {{segment / 2**20:,.2f}} MiB")
"""
PARTS: Final = {
    "allocated": (N_("in tensors"), "muted", ""),
    "idle": (N_("reserved, in no tensor"), "temporary", "/"),
    "context": (N_("CUDA context and libraries"), "other", "."),
    "other_processes": (N_("other processes"), "other", "x"),
    "free": (N_("free"), "other", "-"),
    "unexplained": (N_("not told by the text"), "other", "\\"),
}
"""Part of a device's memory -> its name, its colour's meaning and its pattern."""
_READABLE: Final = 0.12  # of the axis: as wide as an amount in a bar
_ROOM: Final = 1.08
HEIGHT_PX: Final = 400


def show_out_of_memory(told: OutOfMemory, plan: Plan) -> Shown:
    """Show the error's numbers beside the plan's, and the tensor of that size."""
    suspects = find_suspects(told, plan.spec, plan.recipe, plan.cluster)
    moments = step_totals(plan)
    fitting = moment_of(told.allocated, moments) if told.allocated else None
    shown = fitting or max(moments, key=lambda each: each.amount)
    need = plan.need
    here = Count(plan=plan, need=need, verdict=plan.held_against(need))
    return Shown(
        headline=out_of_memory_sentence(told, suspects, plan, look().unit),
        charts=[Chart(picture=memory_picture(told, shown, look()), file_name="out-of-memory")],
        numbers=[(_("Requested"), suspects[0].item)] if suspects else [],
        notes=list(_notes(told, plan, suspects, fitting)),
        below=lambda: show_changes(plan, here),
        code=_code(told, suspects),
    )


def _exact(num_bytes: int) -> str:
    return exact(num_bytes, look().unit)


def _notes(
    told: OutOfMemory, plan: Plan, suspects: Sequence[Suspect], fitting: Item | None
) -> Sequence[str]:
    notes = []
    if told.num_texts > 1:
        notes.append(
            _("The text holds {count} such errors; this is the first.").format(count=told.num_texts)
        )
    if len(suspects) > 1:
        others = _("; ").join(f"{what(each)} ({product(each)})" for each in suspects[1:])
        notes.append(_("The same size has also: {others}.").format(others=others))
    if not suspects:
        instead = elsewhere_sentence(told, plan)
        notes.extend([instead] if instead else [])
        notes.append(
            _(
                "Set the model, the sequence length, the batch and the number of devices as they "
                "were in the run; a length that the text's run did not have gives other sizes."
            )
        )
    if told.allocated:
        notes.extend(_on_allocated(told, plan, fitting))
    if told.is_fragmented and told.idle:
        notes.append(
            _(
                "{idle} were reserved but in no tensor, more than was asked for, yet in no piece "
                "that was large enough: the memory is fragmented. "
                "`PYTORCH_ALLOC_CONF=expandable_segments:True` lets segments grow instead."
            ).format(idle=_exact(told.idle.num_bytes))
        )
    if told.total and abs(told.total.num_bytes / plan.cluster.device.memory_usable - 1) > 0.1:
        notes.append(
            _("The error's device has {total}, the plan's {device} {usable}.").format(
                total=_exact(told.total.num_bytes),
                device=plan.cluster.device.name,
                usable=look().format_bytes(plan.cluster.device.memory_usable),
            )
        )
    return notes


def _on_allocated(told: OutOfMemory, plan: Plan, fitting: Item | None) -> Sequence[str]:
    notes = []
    assert told.allocated is not None  # noqa: S101  asked before
    if fitting is not None:
        notes.append(
            _("The bytes in tensors are those of the plan at this moment: {moment}.").format(
                moment=_(fitting.name)
            )
        )
    else:
        amounts = [each.amount for each in step_totals(plan)]
        text = _("No moment of the plan's step has so many bytes in tensors: {low} to {high}.")
        low, high = (look().format_bytes(each) for each in (min(amounts), max(amounts)))
        notes.append(text.format(low=low, high=high))
    states = held_states(told.allocated, plan.spec, plan.num_devices)
    if states is not None:
        share = "" if states.num_shards == 1 else f" / {states.num_shards}"
        parts = [f"{states.num_fp32} × 4 × {states.item.values['num_params']:,}{share}"]
        if states.in_16_bits:
            parts.insert(0, f"2 × {states.item.values['num_params']:,}")
        notes.append(
            _("{bytes} of it are states alone: {parts} bytes.").format(
                bytes=_exact(states.item.num_bytes), parts=" + ".join(parts)
            )
        )
    return notes


def memory_picture(told: OutOfMemory, moment: Item, look: Look) -> Picture:
    """Return the device's memory as the error tells it, above the plan at one moment of a step."""
    drawing = Drawing()
    error = _("The error")
    predicted = f"{_('The plan')} · {_(moment.name)}"
    planned = small_together([part for part in moment.children if part.amount])
    parts = {name: size for name, size in told.parts.items() if size} or {"allocated": 0}
    total = told.total.num_bytes if told.total else sum(parts.values())
    reach = _ROOM * max(total, moment.amount)
    for name, num_bytes in parts.items():
        label, meaning, pattern = PARTS[name]
        drawing.bar(
            x=[num_bytes], y=[error], orientation="h", name=_(label),
            marker={"color": look.color(meaning), "pattern": {"shape": pattern}},
            text=[_exact(num_bytes) if num_bytes > _READABLE * reach else ""],
            textposition="inside", insidetextanchor="middle",
            hovertemplate=f"{_(label)}: {_exact(num_bytes)}<extra></extra>",
        )  # fmt: skip
    stack(drawing, [(predicted, planned)], look, flat=True)
    if told.total:
        text = _("the error's device: {total}").format(total=_exact(told.total.num_bytes))
        capacity_line(drawing, total, text, look, flat=True, longest=reach)
    names = [f"<b>{error}</b>", f"<b>{predicted}</b>"]
    figure = rows_of_bars(
        drawing, look, num_rows=2, x={"visible": False, "range": [0, reach]},
        y=name_above(drawing, names, look), bargap=1 - NAMED_BAR, height=HEIGHT_PX,
        margin={"l": 8, "r": 8, "t": 2 * look.layout()["font"]["size"], "b": 8},
        # On a phone the names stand in one column: they need room, or else they scroll.
        legend=legend_below(look) | {"xref": "container", "maxheight": 0.8},
    )  # fmt: skip
    named = [f"{_(PARTS[name][0])} {_exact(size)}" for name, size in parts.items()]
    alt = _("The error: {parts}. The plan at the moment “{moment}”: {bytes} in tensors.").format(
        parts=_(", ").join(named), moment=_(moment.name), bytes=look.format_bytes(moment.amount)
    )
    return Picture(figure=figure, alt=alt, table=_table(parts, planned, look))


def _table(parts: dict[str, int], planned: Sequence[Item], look: Look) -> dict[str, list[str]]:
    rows = [(_("The error"), _(PARTS[name][0]), _exact(size)) for name, size in parts.items()]
    rows += [(_("The plan"), _(part.name), look.format_bytes(part.amount)) for part in planned]
    titles = (_("of"), _("part"), _("bytes"))
    return {title: [row[place] for row in rows] for place, title in enumerate(titles)}


def _code(told: OutOfMemory, suspects: Sequence[Suspect]) -> str:
    if not suspects:
        return ""
    python = suspects[0].item.python
    code = CODE.format(asked=_exact(told.requested.num_bytes), python=python)
    return f"from math import ceil\n{code}" if "ceil(" in python else code
