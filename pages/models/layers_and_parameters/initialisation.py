"""What a first draw of the weights does to activations and gradients, layer by layer."""

from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.budget.item import Formula, Item, Number, item
from core.figures.models.layers_and_parameters.curves import spread_picture
from core.figures.models.layers_and_parameters.first_draw import bound_picture, product_picture
from core.figures.picture import Picture
from core.language import N_, _
from core.models.initialisation import (
    ACTIVATIONS,
    SCHEMES,
    Stack,
    Truncation,
    measure_spread,
    product_spread,
    truncation,
)
from core.units import format_exact
from pages.models.layers_and_parameters.inputs import ASK
from pages.models.layers_and_parameters.snippets import (
    bound_snippet,
    product_snippet,
    stack_snippet,
)
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

WIDTHS: Final = (32, 64, 128, 256, 512)
FAN_INS: Final = (256, 1024, 4096, 16384)
MOST_LAYERS: Final = 32
BOUNDS: Final = ("absolute", "sigmas")
PRODUCT: Final = Formula("fan_in ** 0.5 * std_w")
BOUND: Final = Formula("bound / (1 / fan_in ** 0.5)")
_SOURCE: Final = N_("variances of independent numbers add")
_COMPARED: Final = ("unit", "fan_in", "kaiming", "gpt2")
_spread = st.cache_data(max_entries=256, show_spinner=False)(measure_spread)
_product = st.cache_data(max_entries=8, show_spinner=False)(product_spread)
_truncation = st.cache_data(max_entries=8, show_spinner=False)(truncation)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What is measured; `shows` is "activations", "gradients", "product" or "bound"."""

    stack: Stack
    shows: str
    fan_in: int
    bound: str


def choose_stack() -> Asked:
    """Show the inputs of the tab and return what they say."""
    shows = ASK.selectbox("shows", _("Show"), tuple(_views()), default="activations",
                          labels=lambda key: _views()[key])  # fmt: skip
    scheme = ASK.selectbox(
        "scheme", _("Initialization"), tuple(SCHEMES), default="kaiming",
        labels=lambda key: _(SCHEMES[key].title),
    )  # fmt: skip
    activation = ASK.selectbox("activation", _("Activation"), tuple(ACTIVATIONS), default="relu")
    num_layers = ASK.slider("depth", _("Depth"), 1, MOST_LAYERS, default=16, step=1)
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("init_settings")):
        width = ASK.select_slider("fan", _("Features"), WIDTHS, default=256)
        residual = ASK.toggle("residual", _("Residual connections"), default=False)
        fan_in = ASK.select_slider("fan_in", _("fan_in of one product"), FAN_INS, default=16384)
        bound = ASK.segmented("bound", _("Truncated at"), BOUNDS, default="absolute",
                              labels={"absolute": "±3", "sigmas": "±3σ"}.__getitem__)  # fmt: skip
    stack = Stack(scheme=scheme, num_layers=num_layers, width=width, activation=activation,
                  residual=residual)  # fmt: skip
    return Asked(stack=stack, shows=shows, fan_in=fan_in, bound=bound)


def _views() -> dict[str, str]:
    return {
        "activations": _("activations by layer"),
        "gradients": _("gradients by layer"),
        "product": _("one product x @ w"),
        "bound": _("truncated normal"),
    }


def initialisation(asked: Asked) -> Shown:
    """Measure the chosen scheme beside the others, one product, or one draw."""
    return Shown(
        headline=_headline(asked),
        charts=[Chart(picture=_picture(asked), file_name="initialization")],
        numbers=[] if presenting() else _numbers(asked),
        notes=[] if presenting() else [_note(asked)],
        code=_code(asked),
    )


def _code(asked: Asked) -> str:
    if asked.shows == "product":
        return product_snippet(asked.fan_in)
    if asked.shows == "bound":
        return bound_snippet(asked.fan_in, in_sigmas=asked.bound == "sigmas")
    return stack_snippet(asked.stack)


def _picture(asked: Asked) -> Picture:
    if asked.shows == "product":
        fan_ins = [each for each in FAN_INS if each <= asked.fan_in]
        return product_picture({each: _product(each) for each in fan_ins}, look())
    if asked.shows == "bound":
        return bound_picture(bound_of(asked), look())
    names = dict.fromkeys((asked.stack.scheme, *_COMPARED))
    spreads = {_(SCHEMES[key].title): _spread(replace(asked.stack, scheme=key)) for key in names}
    return spread_picture(spreads, asked.shows, look())


def _numbers(asked: Asked) -> list[tuple[str, Item]]:
    """Return what the closed form says, with the numbers put in."""
    if asked.shows == "product":
        return [(_("σ(x @ w) / σ(x) by formula"), _closed("spread", PRODUCT, asked.fan_in, 1))]
    if asked.shows == "bound":
        return [(_("Bound / σ"), _closed("bound", BOUND, asked.fan_in, bound_of(asked).bound))]
    return []


def _closed(name: str, rule: Formula, fan_in: int, other: Number) -> Item:
    values = {"fan_in": fan_in, "std_w": other, "bound": other}
    return item(name, rule, values, unit="×", source=_(_SOURCE), kind="exact")


def _headline(asked: Asked) -> str:
    if asked.shows == "product":
        return _of_a_product(asked.fan_in)
    if asked.shows == "bound":
        return _of_a_bound(asked)
    spread = _spread(asked.stack)
    values = spread.gradients[::-1] if asked.shows == "gradients" else spread.activations
    said = (
        _("{scheme}: gradients go from σ = {first} at the output to {last} after {layers} layers")
        if asked.shows == "gradients"
        else _("{scheme}: activations go from σ = {first} to {last} after {layers} layers")
    )
    return said.format(
        scheme=_(SCHEMES[asked.stack.scheme].title),
        first=f"{values[0]:.3g}",
        last=f"{values[-1]:.3g}",
        layers=asked.stack.num_layers,
    )


def _of_a_product(fan_in: int) -> str:
    spread = _product(fan_in)
    said = _("x @ w with fan_in {fan_in}: σ = {unit} from N(0, 1), {scaled} from N(0, 1/√fan_in)")
    return said.format(
        fan_in=format_exact(fan_in),
        unit=f"{spread['unit']:.4g}",
        scaled=f"{spread['fan_in']:.3g}",
    )


def _of_a_bound(asked: Asked) -> str:
    cut = bound_of(asked)
    said = _("Bounds of ±{bound} are ±{sigmas}σ: the largest of a million weights is {largest}σ")
    return said.format(
        bound=f"{cut.bound:.4g}", sigmas=f"{cut.bound_in_sigmas:g}", largest=f"{cut.largest:.3f}"
    )


def bound_of(asked: Asked) -> Truncation:
    """Return what the bound does to a million weights."""
    return _truncation(asked.fan_in, in_sigmas=asked.bound == "sigmas")


def _note(asked: Asked) -> str:
    if asked.shows == "product":
        return _(
            "Each output sums fan_in products of variance 1, so its variance is fan_in. Divided by "
            "√fan_in the weights keep the spread of what comes in."
        )
    if asked.shows == "bound":
        return _(
            "`trunc_normal_(w, std=s, a=-3, b=3)` takes its bounds as numbers, not in standard "
            "deviations: with a small s they cut nothing. Write `a=-3 * s, b=3 * s`."
        )
    return _(
        "Each layer multiplies the spread by about √fan_in times the standard deviation of its "
        "weights; what is a little more or less than 1 becomes a power of the depth. "
        "Measured on a batch of 64, forward and backward."
    )
