"""Layers of torch: shapes, parameters, and what train() and eval() change."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.layer_zoo import LAYERS, TOKENS, VOCABULARY, Visit, visit
from core.units import format_exact
from pages.models.layers_and_parameters.inputs import ASK, ROOM, layout_with
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

MOST_ROWS: Final = 32
_CODE: Final = """
import torch
from torch import nn

torch.manual_seed(0)
layer = {code}
x = {x}
inputs = (x, x, x) if isinstance(layer, nn.MultiheadAttention) else (x,)
for mode in (layer.eval, layer.train):
    mode()
    try:
        out = layer(*inputs)
        print(mode.__name__, tuple((out[0] if isinstance(out, tuple) else out).shape))
    except ValueError as error:
        print(mode.__name__, error)
"""


def choose_layer() -> tuple[str, int]:
    name = ASK.selectbox("layer", _("Layer"), tuple(LAYERS), default="Dropout")
    return name, ASK.slider("batch", _("Batch size"), 1, MOST_ROWS, default=8, step=1)


def layer_zoo(asked: tuple[str, int]) -> Shown:
    """Run every layer in train() and in eval(), and explain one."""
    name, batch = asked
    visits = [visit(each, batch) for each in LAYERS]
    chosen = next(each for each in visits if each.name == name)
    if chosen.error:
        headline = _("{layer} refuses a batch of one in train(), and accepts it in eval()")
    elif chosen.differs:
        headline = _("{layer}, {params} parameters: {input} → {output}; train() and eval() differ")
    else:
        headline = _("{layer}, {params} parameters: {input} → {output}; train() and eval() agree")
    shape = chosen.input_shape
    note = _("{signature}: {reason}.").format(
        signature=f"`{LAYERS[name].code}`", reason=_(LAYERS[name].does)
    )
    ids = f"torch.randint({VOCABULARY}, ({shape[0]}, {TOKENS}))"
    return Shown(
        headline=headline.format(
            layer=name,
            params=format_exact(chosen.num_params),
            input=shape,
            output=chosen.output_shape,
        ),
        charts=[Chart(picture=zoo_picture(visits, name, look()), file_name="layers")],
        notes=[] if presenting() else [note],
        below=partial(_refused, chosen) if chosen.error and not presenting() else None,
        code=_CODE.format(
            code=LAYERS[name].code, x=ids if name == "Embedding" else f"torch.randn{shape}"
        ),
    )


def _refused(chosen: Visit) -> None:
    st.markdown(
        _(
            "A batch of one has no spread in a channel: its variance is 0, and each output would "
            "be 0 whatever came in. Take at least two rows, or eval(). Torch says:"
        )
    )
    st.code(chosen.error, language=None)


def zoo_picture(visits: Sequence[Visit], chosen: str, look: Look) -> Picture:
    """Return the spread of each layer's output in train() and in eval()."""
    drawing, names = Drawing(), [each.name for each in visits]
    line = {"width": [3 if name == chosen else 0 for name in names], "color": look.color("text")}
    for title, stds, meaning in (
        ("train()", [each.train_std for each in visits], "backward"),
        ("eval()", [each.eval_std for each in visits], "forward"),
    ):
        drawing.bar(
            orientation="h", y=names, x=stds, name=title,
            marker={"color": look.color(meaning), "line": line},
            hovertemplate="%{y}: %{x:.4g}<extra>" + title + "</extra>",
        )  # fmt: skip
    refused = [each for each in visits if each.error]
    for each in refused:
        drawing.note(x=each.eval_std, y=each.name, text="✗ train()", xanchor="left", xshift=6)
    most = max(max(each.eval_std, each.train_std or 0) for each in visits)
    room = ROOM[look.present] if refused else 0.05
    figure = drawing.figure(
        layout_with(
            look,
            xaxis={
                "title": {"text": _("standard deviation of the output")},
                "range": [0, most * (1 + room)],
            },
            yaxis={"autorange": "reversed"},
        )
    )
    parts = [
        f"{each.name} {'ValueError' if each.train_std is None else f'{each.train_std:.3g}'}"
        f" / {each.eval_std:.3g}"
        for each in visits
    ]
    alt = _("Standard deviation of the output in train() / eval(): {parts}.").format(
        parts=_(", ").join(parts)
    )
    table: dict[str, list[Any]] = {
        _("layer"): names,
        _("parameters"): [each.num_params for each in visits],
        _("input"): [str(each.input_shape) for each in visits],
        _("output"): [str(each.output_shape) for each in visits],
        _("std in train()"): [each.train_std for each in visits],
        _("std in eval()"): [each.eval_std for each in visits],
        _("torch says"): [each.error for each in visits],
    }
    return Picture(figure=figure, alt=alt, table=table)


def _ask() -> None:
    """Ask what batch norm does with one row in train(); torch answers."""
    choices = [
        Choice(_("It returns zeros"), _("So it would be by the formula; torch refuses instead.")),
        Choice(_("It raises a ValueError")),
        Choice(_("It uses the running statistics"), _("So it does in eval(), not in train().")),
    ]
    predict_then_reveal(
        ASK.key("one_row"),
        _("What does BatchNorm1d do in train() with a batch of one row?"),
        choices,
        _("Torch says: {error}").format(error=f"`{visit('BatchNorm1d', 1).error}`"),
    )


TAB: Final = Tab(
    label=N_("Layer zoo"), show=layer_zoo, with_inputs=False, choose=choose_layer, question=_ask
)
