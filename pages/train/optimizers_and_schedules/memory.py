"""What an optimizer keeps in memory beside the weights, and what zero_grad frees."""

import streamlit as st

from core.figures.train.optimizers_and_schedules.norms import state_picture
from core.language import _
from core.train.optimizers.state_bytes import NUM_PARAMS, HeldBytes, gradient_bytes, state_bytes
from core.units import format_exact
from pages.shared.page_links import show_link
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

_CODE = """
import torch

for make in (torch.optim.SGD, torch.optim.AdamW, torch.optim.Muon):
    p = torch.nn.Parameter(torch.ones(256, 256))
    optimizer = make([p], lr=0.1)
    p.sum().backward()
    optimizer.step()
    held = [each for each in optimizer.state[p].values() if each is not None and each.numel() > 1]
    print(make.__name__, sum(each.nbytes for each in held) / p.numel(), "bytes per parameter")

for to_none in (True, False):
    p.sum().backward()
    optimizer.zero_grad(set_to_none=to_none)
    print(f"set_to_none={to_none}:", 0 if p.grad is None else p.grad.nbytes, "bytes of gradient")
"""


@st.cache_data(max_entries=1, show_spinner=False)
def _measured() -> tuple[HeldBytes, ...]:
    return state_bytes()


def memory_tab() -> Shown:
    """Draw the bytes of state for a weight, and say what zero_grad leaves."""
    rows = _measured()
    amounts = {row.name: row.per_parameter for row in rows}
    look_now = look()
    return Shown(
        headline=_(
            "SGD keeps {sgd} bytes per parameter, momentum and Muon {one}, AdamW {two}"
        ).format(
            sgd=f"{amounts['SGD']:g}", one=f"{amounts['Muon']:g}", two=f"{amounts['AdamW']:g}"
        ),
        charts=[Chart(picture=state_picture(rows, look_now), file_name="optimizer-state")],
        notes=[
            _(
                "Counted in torch.optim's own tensors after a step on {count} float32 weights. "
                "After zero_grad(set_to_none=True) the gradients hold {none}, after "
                "set_to_none=False {zeros}: zeros need as much memory as numbers."
            ).format(
                count=format_exact(NUM_PARAMS),
                none=look_now.format_bytes(gradient_bytes(set_to_none=True)),
                zeros=look_now.format_bytes(gradient_bytes(set_to_none=False)),
            )
        ],
        below=None if presenting() else _to_training_memory,
        code=_CODE,
    )


def _to_training_memory() -> None:
    show_link("plan/training_memory", _("What this makes of a whole model's memory →"), {})
