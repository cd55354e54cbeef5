"""The answer: which variables and which addresses a write has changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import streamlit as st

from core.language import N_, _
from core.language.listing import listed
from core.tensors.examples import WRITE_PRESETS, counted, titles
from core.tensors.writes import MAX_NUMBERS, Variable, Written, run_writes
from pages.components.tensor_map.tensor_map import steps_of
from pages.shared.charts import show_table
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Part, Shown, Tab
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.lengths import ask_last_lengths, length_settings
from pages.shared.tensors.program import ask_program, show_printed, show_refusal
from pages.tensors.indexing_and_sharing.inputs import ASK, LENGTHS
from pages.tensors.indexing_and_sharing.maps import aside, show_map

BESIDE: Final = {False: 330, True: 320}  # pixels of two pictures side by side
START: Final = WRITE_PRESETS["transpose"]

_SNIPPET = """
{body}
variables = {{{names}}}
before = {{name: x.clone() for name, x in variables.items()}}
{writing}
for name, x in variables.items():
    print(name, int((x != before[name]).sum()), "elements changed", x.tolist())
"""

_REFUSED = """
try:
    {code}
except (RuntimeError, ValueError, IndexError, TypeError) as error:
    print(error)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """A program that ran on `x`, which held 0, 1, 2, ... in that shape."""

    source: str
    shape: tuple[int, ...]
    written: Written


def choose_program() -> Program:
    """Show the program and the shape of its tensor; return both after a run."""
    offer_examples(ASK, "preset", titles(WRITE_PRESETS), _settings)
    source = ask_program(
        ASK,
        START.source,
        height=150,
        help=_(
            "PyTorch as you would type it; x is the tensor. x[0, 1] = 100, x += 1, add_, mul_, "
            "fill_, zero_ and copy_ write. Ctrl + Enter runs it."
        ),
    )
    shape = ask_last_lengths(ASK, LENGTHS, START.shape)
    written = run_writes(source, lambda: {"x": counted(shape)})
    return Program(source=source, shape=shape, written=written)


def _settings(key: str) -> dict[str, object]:
    preset = WRITE_PRESETS[key]
    return {"code": preset.source, **length_settings(preset.shape)}


def writes(program: Program) -> Shown:
    written = program.written
    part = _show_maps(written)
    show_printed(written.trace.printed)
    if written.trace.error:
        show_refusal(ASK, written.trace.error)
    if written.variables and not presenting():
        _show_variables(written.variables)
    return Shown(
        headline=_headline(written), part=part, notes=aside(_notes(written)), code=_snippet(program)
    )


def _show_maps(written: Written) -> Part | None:
    """Draw the tensor of the last step, and beside it the first variable that is another one."""
    steps = [step["tensor"] for step in steps_of(written.trace)]
    others = [each.tensor.key for each in written.variables if each.tensor.key not in steps[-1:]]
    if not others or presenting():
        index = written.first_index
        return show_map(written.trace, "writes", changed=written.changed, index=index)
    both = Part(key=ASK.key("writes_drawn"), file_name="writes")
    other, last = st.container(key=both.key).columns(2, gap="medium")
    with other:
        step = steps.index(others[0])
        show_map(written.trace, "other", changed=written.changed, step=step, room=BESIDE)
    with last:
        index = written.first_index
        show_map(written.trace, "writes", changed=written.changed, index=index, room=BESIDE)
    return both


def _headline(written: Written) -> str:
    changed, kept = (listed(f"`{name}`" for name in names) for names in written.names)
    error = written.trace.error
    if error and not changed:
        return _("The program is refused in line {line}: no variable changes").format(
            line=error.line
        )
    if not written.writes:
        return _("Nothing is written: no variable changes")
    named = {each.tensor.storage for each in written.variables}
    values = {
        "write": written.writes[-1].text,
        "changed": changed,
        "kept": kept,
        "where": _("; ").join(
            _where(*each) for each in written.changed.items() if each[0] in named
        ),
    }
    if not changed and written.changed.keys() - named:
        message = _("`{write}` changes a tensor that has no name: no variable changes")
        return message.format(**values)
    if not changed:
        return _("`{write}` writes the values that are already there: no variable changes").format(
            **values
        )
    if kept:
        return _("`{write}` changes {changed}, not {kept} ({where})").format(**values)
    return _("`{write}` changes {changed} ({where})").format(**values)


def _where(storage: str, addresses: Sequence[int]) -> str:
    """Return the addresses of a storage as text: a range, a few, or the first few."""
    first, last = addresses[0], addresses[-1]
    if len(addresses) > 2 and last - first + 1 == len(addresses):
        listed = f"{first}–{last}"
    else:
        listed = _(", ").join([*map(str, addresses[:5]), *(("…",) if len(addresses) > 5 else ())])
    told = _("addresses {addresses} of {storage}")
    if len(addresses) == 1:
        told = _("address {addresses} of {storage}")
    return told.format(addresses=listed, storage=storage)


def _notes(written: Written) -> list[str]:
    """Say what no error has said: elements that share an address were written more than once."""
    notes = []
    if written.changed:
        notes.append(_("A marked corner: this write has changed the value at this address."))
    for each in written.overlaps:
        told = _(
            "`{write}` writes {count} elements into {addresses} addresses. PyTorch does not notice "
            "that they overlap: how often a number was changed depends on the order."
        )
        notes.append(
            told.format(write=each.text, count=each.num_elements, addresses=each.num_addresses)
        )
    return notes


def _show_variables(variables: Sequence[Variable]) -> None:
    show_table(
        {
            _("Variable"): [f"`{each.name}`" for each in variables],
            _("Storage"): [each.tensor.storage for each in variables],
            _("Shape"): [str(each.tensor.layout.shape) for each in variables],
            _("Stride"): [str(each.tensor.layout.stride) for each in variables],
            _("Offset"): [each.tensor.layout.offset for each in variables],
            _("Before"): [_numbers(each, each.before) for each in variables],
            _("After"): [_numbers(each, each.after, each.changed) for each in variables],
            _("Changed elements"): [len(each.changed) for each in variables],
        }
    )


def _numbers(variable: Variable, values: Any, marked: Sequence[int] = ()) -> str:  # noqa: ANN401
    if variable.tensor.layout.numel > MAX_NUMBERS:
        return "…"
    places = iter(range(variable.tensor.layout.numel))

    def written(value: Any) -> str:  # noqa: ANN401
        if isinstance(value, list):
            return f"[{', '.join(map(written, value))}]"
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        return f"**{text}**" if next(places) in marked else text

    return written(values)


def _snippet(program: Program) -> str:
    written = program.written
    size = " * ".join(map(str, program.shape))
    body = f"import torch\n\nx = torch.arange({size}, dtype=torch.float32).view({program.shape})\n"
    names = ", ".join(f'"{each.name}": {each.name}' for each in written.variables)
    writing = written.writing + (_REFUSED.format(code=written.refused) if written.refused else "")
    return _SNIPPET.format(body=body + written.before, names=names, writing=writing).strip()


@cache
def _ran() -> Written:
    return run_writes(WRITE_PRESETS["reshape"].source, lambda: {"x": counted((2, 3))})


def ask_who_changes() -> None:
    """Ask which of three variables change; the program is run."""
    changed, kept = _ran().names
    everything = [*changed, *kept]
    choices = [
        Choice(
            _("x alone"),
            _("The elements of x lie in the order that y asks for: strides can describe it, so y "
              "is a view of the same storage."),
        ),
        Choice(listed(changed)),
        Choice(
            _("all three: {names}").format(names=_(", ").join(everything)),
            _("After t() the elements do not lie in the order that z asks for, and no stride can "
              "reach them so: reshape has copied without saying so."),
        ),
        Choice(
            _("none: PyTorch refuses"),
            _("Only elements that share an address are refused, as after expand. Here none do."),
        ),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("who_changes"),
        _(
            "x holds 0 to 5 in the shape (2, 3). Then y = x.reshape(6), z = x.t().reshape(6) and "
            "x[0, 1] = 100. Which variables change?"
        ),
        choices,
        _("{changed} change, {kept} does not: the write changed {count} address.").format(
            changed=listed(changed), kept=listed(kept), count=_ran().num_addresses
        ),
    )


TAB: Final = Tab(label=N_("Writes"), show=writes, choose=choose_program, question=ask_who_changes)
