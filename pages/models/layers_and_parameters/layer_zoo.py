"""Layers of torch: shapes, parameters, and what train() and eval() change."""

from functools import partial
from typing import Final

import streamlit as st

from core.figures.models.layers_and_parameters.bars import zoo_picture
from core.language import _
from core.models.layer_zoo import LAYERS, Visit, visit
from core.units import format_exact
from pages.models.layers_and_parameters.inputs import ASK
from pages.models.layers_and_parameters.snippets import layer_snippet
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

MOST_ROWS: Final = 32


def choose_layer() -> tuple[str, int]:
    """Return the layer and the batch size."""
    name = ASK.selectbox("layer", _("Layer"), tuple(LAYERS), default="Dropout")
    return name, ASK.slider("batch", _("Batch size"), 1, MOST_ROWS, default=8, step=1)


def layer_zoo(asked: tuple[str, int]) -> Shown:
    """Run every layer in train() and in eval(), and explain one."""
    name, batch = asked
    visits = [visit(each, batch) for each in LAYERS]
    chosen = next(each for each in visits if each.name == name)
    return Shown(
        headline=_headline(chosen),
        charts=[Chart(picture=zoo_picture(visits, name, look()), file_name="layers")],
        notes=[] if presenting() else [f"`{LAYERS[name].code}`: {_(LAYERS[name].does)}."],
        below=partial(_refused, chosen) if chosen.error and not presenting() else None,
        code=layer_snippet(name, chosen),
    )


def _headline(chosen: Visit) -> str:
    values = {
        "layer": chosen.name,
        "params": format_exact(chosen.num_params),
        "input": chosen.input_shape,
        "output": chosen.output_shape,
    }
    if chosen.error:
        said = _("{layer} refuses a batch of one in train(), and accepts it in eval()")
    elif chosen.differs:
        said = _("{layer}, {params} parameters: {input} → {output}; train() and eval() differ")
    else:
        said = _("{layer}, {params} parameters: {input} → {output}; train() and eval() agree")
    return said.format(**values)


def _refused(chosen: Visit) -> None:
    st.markdown(
        _(
            "A batch of one has no spread in a channel: its variance is 0, and each output would "
            "be 0 whatever came in. Take at least two rows, or eval(). Torch says:"
        )
    )
    st.code(chosen.error, language=None)
