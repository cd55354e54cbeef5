"""What the page of accumulation and recomputation asks for: a stack of layers, and its segments."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.autograd.layer_stack import DTYPES, LAYERS, Stack
from core.language import N_, _
from pages.shared.inputs import Inputs

ASK: Final = Inputs("accum")
BATCHES: Final = (8, 16, 32, 64, 128)
WIDTHS: Final = (64, 128, 256, 512, 1024)
FEWEST_LAYERS: Final = 4
MOST_LAYERS: Final = 32
DOING: Final = N_("Running forward and backward …")


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What is run."""

    stack: Stack  # the layers and their size
    segment: int  # layers per checkpoint segment


def choose_case() -> Case:
    num_layers = ASK.slider("layers", _("Layers"), FEWEST_LAYERS, MOST_LAYERS, default=16, step=1)
    segment = ASK.slider(
        "segment", _("Layers per checkpoint segment"), 1, num_layers, default=FEWEST_LAYERS, step=1
    )
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("settings")):
        batch = ASK.select_slider("batch", _("Batch size"), BATCHES, default=64)
        layer = ASK.selectbox(
            "layer",
            _("Layer"),
            tuple(LAYERS),
            default="relu",
            labels=lambda key: _(LAYERS[key].title),
        )
        width = ASK.select_slider("width", _("Features"), WIDTHS, default=256)
        dtype = ASK.segmented("dtype", "dtype", tuple(DTYPES), default="float32")
    stack = Stack(batch_size=batch, width=width, num_layers=num_layers, layer=layer, dtype=dtype)
    return Case(stack=stack, segment=segment)
