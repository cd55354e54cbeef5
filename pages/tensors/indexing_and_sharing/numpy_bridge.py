"""Between NumPy and PyTorch: is a write into the array seen in the tensor?"""

from collections.abc import Sequence

from core.language import N_, _
from core.tensors.numpy_bridge import BRIDGES, Bridge, Crossed, cross
from pages.shared.charts import show_table
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Part, Shown
from pages.shared.tensors.program import show_verbatim
from pages.tensors.indexing_and_sharing.maps import all_cases, aside, show_map

OUTCOMES = {
    "shares": N_("shares memory"),
    "copies": N_("copies"),
    "refused": N_("refused"),
}


def between_numpy(row: Bridge) -> Shown:
    """Run a case, draw array and tensor after the write, or show what was refused."""
    crossed = cross(row)
    part = _map_of(crossed)
    show_verbatim(_told(row, crossed))
    if not presenting():
        all_cases("bridges", lambda: _show_table([(row, cross(row)) for row in BRIDGES]))
    return Shown(
        headline=_headline(row, crossed),
        part=part,
        notes=aside(_notes(crossed)),
        code=_snippet(row),
    )


def _map_of(crossed: Crossed) -> Part | None:
    if crossed.trace is None:
        return None
    written = crossed.shape if crossed.changed else ()
    index = [0 for _length in written]
    return show_map(crossed.trace, "bridge", changed=crossed.changed, index=index)


def _told(row: Bridge, crossed: Crossed) -> str:
    made = "a" if row.from_torch else "t"
    lines = [row.first, f"{made} = {row.code}"]
    if crossed.changed:
        lines += ["a.flat[0] = 100", f"t.flatten()[0]  # {crossed.seen:.4g}"]
    return "\n".join([*lines, *filter(None, [crossed.error, crossed.warning])])


def _headline(row: Bridge, crossed: Crossed) -> str:
    if crossed.outcome == "refused":
        kind = crossed.error.partition(":")[0]
        return _("`{code}` is refused: {kind}").format(code=row.code, kind=kind)
    values = {"code": row.code, "dtype": crossed.dtype, "stride": crossed.stride}
    if crossed.warning:
        return _("`{code}` shares read-only memory: {dtype}, stride {stride}").format(**values)
    if crossed.outcome == "shares":
        told = _("`{code}` shares memory: t is {dtype} and sees every write into a")
        return told.format(**values)
    return _("`{code}` copies: t is {dtype} and sees no write into a").format(**values)


def _notes(crossed: Crossed) -> list[str]:
    if crossed.warning:
        return [_("A write through the tensor would change an array that is read-only.")]
    if crossed.changed:
        return [_("The first element of a was set to 100; a marked corner shows where.")]
    return []


def _show_table(rows: Sequence[tuple[Bridge, Crossed]]) -> None:
    show_table(
        {
            _("Given"): [f"`{row.first}`" for row, _crossed in rows],
            _("Call"): [f"`{row.code}`" for row, _crossed in rows],
            _("What it is"): [_(OUTCOMES[crossed.outcome]) for _row, crossed in rows],
            "dtype": [crossed.dtype for _row, crossed in rows],
            _("Stride"): [str(crossed.stride) if crossed.dtype else "" for _row, crossed in rows],
            _("What PyTorch says"): [
                _code(crossed.error or crossed.warning) for _row, crossed in rows
            ],
        }
    )


def _code(words: str) -> str:
    return f"`{words}`" if words else ""


def _snippet(row: Bridge) -> str:
    made = "a" if row.from_torch else "t"
    return f"""
import numpy as np
import torch

{row.first}
try:
    {made} = {row.code}
    a.flat[0] = 100
    print(t.dtype, t.stride(), "shares" if t.flatten()[0] == 100 else "copies")
except (TypeError, ValueError, RuntimeError) as error:
    print(type(error).__name__, error)
"""
