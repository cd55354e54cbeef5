"""The layers between a line of Python and the silicon, and what known libraries call in torch."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.figures.budget.frames import lying_bars, text_size
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.machine import describe_machine
from core.machine.stack import Layer, software_stack
from pages.shared import page_links, settings
from pages.shared.navigation import page_row
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.start.machine.inputs import asked_probe

HEIGHT_PX: Final = 360
PRESENT_HEIGHT_PX: Final = 440
_LIBRARIES: Final = (
    (
        "Transformers",
        N_(
            "Its models are `nn.Module`s whose attention calls `F.scaled_dot_product_attention`; "
            "its `Trainer` steps `torch.optim.AdamW`. Here: a GPT with the same calls."
        ),
        "models/inside_gpt",
    ),
    (
        "PEFT",
        N_(
            "It sets `requires_grad = False` on a model and adds two small `nn.Linear` layers "
            "beside each chosen one (LoRA). Here: LoRA on a GPT."
        ),
        "models/layers_and_parameters",
    ),
    (
        "vLLM",
        N_(
            "It keeps the weights in torch tensors, stores the KV cache in pages, calls its own "
            "attention kernels and joins devices by `torch.distributed`. Here: the memory and "
            "speed of serving, counted."
        ),
        "plan/serving",
    ),
    (
        "LangChain",
        N_(
            "It calls nothing in torch: it sends texts to a model that another program serves. "
            "Here: nothing of it."
        ),
        "",
    ),
)
_CODE: Final = """
import platform

import torch

print(torch.__config__.show())
print(platform.platform())
"""


def stack() -> Shown:
    """Show the layers between a line of Python and the silicon; asks torch the first time."""
    probe = asked_probe()
    layers = software_stack(describe_machine(), probe) if probe else ()
    count = len(layers)
    picture = [stack_picture(layers, settings.look())] if layers else []
    return Shown(
        headline=_("From a line of Python to the silicon: {count} layers").format(count=count),
        charts=[Chart(picture=each, file_name="software-stack") for each in picture],
        notes=[_("Each layer only calls the one below it; a slow step is slow in one of them.")],
        below=_show_libraries,
        code=_CODE,
    )


def _show_libraries() -> None:
    """Show what each library calls in torch, with a link to the page that shows the same."""
    st.markdown("#### " + _("What libraries call in PyTorch"))
    for name, calls, page in _LIBRARIES:
        st.markdown(f"**{name}** · {_(calls)}")
        if page:
            page_links.show_link(page, _(page_row(page).title), {}, icon=":material/article:")


def stack_picture(layers: Sequence[Layer], look: Look) -> Picture:
    """Return one bar for each layer, the application on top; what is installed stands inside."""
    drawing = Drawing()
    drawing.bar(
        orientation="h",
        y=[_(layer.name) for layer in layers],
        x=[1] * len(layers),
        text=[f"<b>{layer.found}</b><br>{_(layer.duty)}" for layer in layers],
        textposition="inside",
        insidetextanchor="middle",
        textfont={"color": look.color("text"), "size": text_size(look)},
        constraintext="none",
        hoverinfo="skip",
        marker={
            "color": look.color("surface"),
            "line": {"color": look.color("accent"), "width": 2},
        },
    )
    for row in range(len(layers) - 1):
        drawing.note(x=0.5, y=row + 0.5, text="▼", font={"color": look.color("muted")})
    height = PRESENT_HEIGHT_PX if look.present else HEIGHT_PX
    figure = lying_bars(drawing, look, room=1, height=height, top=10, bargap=0.25, showlegend=False)
    parts = [
        _("{name} ({found})").format(name=_(layer.name), found=layer.found) for layer in layers
    ]
    alt = _("The layers from the program down to the hardware: {layers}.").format(
        layers=_(", then ").join(parts)
    )
    table = {
        _("layer"): [_(layer.name) for layer in layers],
        _("what it does"): [_(layer.duty) for layer in layers],
        _("on this machine"): [layer.found for layer in layers],
    }
    return Picture(figure=figure, alt=alt, table=table)


TAB: Final = Tab(label=N_("Stack"), show=stack)
