"""A model small enough to count by hand: the lecture's formulas beside what torch keeps."""

from typing import Final

import streamlit as st

from core.budget.by_hand.tiny_model import TinyAccount, tiny_account
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.tiny_bars import tiny_alt, tiny_figure, tiny_table
from core.language import _
from core.units import format_bytes
from pages.budget.training_memory.pins import PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system
from pages.shared.snippets import show_code

SIZES: Final = tuple(2**power for power in range(10))
LAYERS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
CODE: Final = """
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional as F

B, D, L = {batch}, {width}, {layers}
matrices = [torch.randn(D, D, requires_grad=True) for _ in range(L)]
matrices.append(torch.randn(D, 1, requires_grad=True))
x, y, kept = torch.randn(B, D), torch.randn(B), {{}}
def pack(t):
    if not any(t.data_ptr() == w.data_ptr() for w in matrices):
        kept[t.data_ptr()] = t.numel()
    return t
with saved_tensors_hooks(pack, lambda t: t):
    out = x
    for w in matrices:
        out = out @ w
    loss = F.mse_loss(out.squeeze(-1), y)
print(sum(w.numel() for w in matrices), "parameters,", sum(kept.values()), "values kept")
"""


def show_tiny_model(_case: Scenario) -> None:
    """Show the account of B rows through L layers of width D.

    Args:
        _case: The setting of the page; this model has sizes of its own.
    """
    with st.container(key=f"{PAGE}_tiny", horizontal=True, vertical_alignment="bottom"):
        batch = pickers.select_slider(PAGE, "tiny_batch", _("Rows B"), SIZES, default=2)
        width = pickers.select_slider(PAGE, "tiny_width", _("Width D"), SIZES, default=4)
        layers = pickers.select_slider(PAGE, "tiny_layers", _("Layers L"), LAYERS, default=2)
    account = tiny_account(batch, width, layers)
    unit = unit_system()
    headline(_sentence(account))
    show_chart(
        tiny_figure(account, unit, theme_mode(), present=presenting()),
        key=f"{PAGE}_tiny_bars",
        alt=tiny_alt(account, unit),
        table=tiny_table(account, unit),
        file_name="tiny-model",
    )
    with st.container(key=f"{PAGE}_tiny_numbers", horizontal=True):
        explained_number(_("parameters"), account.parameters)
        explained_number(_("memory, by the formulas"), account.memory)
        explained_number(_("FLOPs, by the formula"), account.flops)
        explained_number(_("FLOPs that torch runs"), account.real_flops)
    show_code("tiny", CODE.format(batch=batch, width=width, layers=layers))


def _sentence(account: TinyAccount) -> str:
    return _(
        "{params} parameters, {memory}, {flops} FLOPs by the formulas; autograd keeps {kept} "
        "values, not {counted}"
    ).format(
        params=f"{account.parameters.amount:,}",
        memory=format_bytes(account.memory.amount, unit_system()),
        flops=f"{account.flops.amount:,}",
        kept=f"{account.kept.amount:,}",
        counted=f"{account.activations.amount:,}",
    )
