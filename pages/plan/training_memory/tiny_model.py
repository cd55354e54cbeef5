"""A model small enough to count by hand: the lecture's formulas beside what torch keeps."""

from dataclasses import replace
from typing import Final

from core.budget.by_hand.tiny_model import TinyAccount, tiny_account
from core.figures.budget.stacked_parts import flat_bars, parts_table, totals
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from pages.plan.training_memory.inputs import ASK
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

HEIGHT_PX: Final = 240
_ROOM: Final = 1.15


def tiny_picture(account: TinyAccount, look: Look) -> Picture:
    parts, kept = account.memory.children, 4 * round(account.kept.amount)
    real = [replace(p, amount=kept) if p.name == "activations" else p for p in parts]
    bars = [(_("by the formulas"), parts), (_("as torch keeps it"), real)]
    drawing, sums = Drawing(), totals(bars)
    layout = flat_bars(drawing, bars, look, reach=_ROOM * max(sums))
    frame = {"height": HEIGHT_PX, "margin": {"l": 8, "r": 24, "t": 34, "b": 8}}
    alt = _(
        "Bytes of one training step: {formulas} by the lecture's formulas, {real} as torch keeps "
        "it, because {kept} values wait for the backward pass and not {counted}."
    ).format(
        formulas=look.format_bytes(sums[0]),
        real=look.format_bytes(sums[1]),
        kept=f"{account.kept.amount:,}",
        counted=f"{account.activations.amount:,}",
    )
    table = parts_table(bars, look, _("counted"))
    return Picture(figure=drawing.figure(layout | frame), alt=alt, table=table)


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


def choose_sizes() -> tuple[int, int, int]:
    return (
        ASK.select_slider("tiny_batch", _("Rows B"), SIZES, default=2),
        ASK.select_slider("tiny_width", _("Width D"), SIZES, default=4),
        ASK.select_slider("tiny_layers", _("Layers L"), LAYERS, default=2),
    )


def tiny_model(wanted: tuple[int, int, int]) -> Shown:
    batch, width, layers = wanted
    account = tiny_account(batch, width, layers)
    code = CODE.format(batch=batch, width=width, layers=layers)
    return Shown(
        headline=sentence(account),
        charts=[Chart(picture=tiny_picture(account, look()), file_name="tiny-model")],
        numbers=[
            (_("parameters"), account.parameters),
            (_("memory, by the formulas"), account.memory),
            (_("FLOPs, by the formula"), account.flops),
            (_("FLOPs that torch runs"), account.real_flops),
        ],
        numbers_below=True,
        code=code,
    )


def sentence(account: TinyAccount) -> str:
    return _(
        "{params} parameters, {memory}, {flops} FLOPs by the formulas; autograd keeps {kept} "
        "values, not {counted}"
    ).format(
        params=f"{account.parameters.amount:,}",
        memory=look().format_bytes(account.memory.amount),
        flops=f"{account.flops.amount:,}",
        kept=f"{account.kept.amount:,}",
        counted=f"{account.activations.amount:,}",
    )
