"""The lab of loss scaling: a factor that lifts small gradients into the range of the format."""

from typing import Final, cast

import streamlit as st

from core.dtypes import FORMATS, FloatFormat
from core.dtypes.labs import GradientBands, loss_scale_bands
from core.figures.dtypes.lab_frame import number, percent, short
from core.figures.dtypes.low_precision_training.lab_loss_scale import (
    loss_scale_alt,
    loss_scale_figure,
    loss_scale_table,
)
from core.language import _
from pages.dtypes.low_precision_training.gradients import (
    SINGLE,
    SOURCES,
    gradients_of,
    picked_histogram,
    source_code,
    source_label,
    source_sentence,
)
from pages.dtypes.low_precision_training.places import PAGE, lab_places, power_of_two
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

NAMES: Final = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
MAX_POWER: Final = 32
CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.labs import gradient_histogram, loss_scale_bands
{gradients}
bands = loss_scale_bands(gradient_histogram(gradients), FORMATS[{name!r}], 2.0**{power})
for kind in ("zero", "subnormal", "normal", "overflow"):
    print(kind, f"{{100 * bands.share(getattr(bands, 'num_' + kind)):.3g}} %")
print(FORMATS[{name!r}].round(1e-8 * 2.0**{power}))
"""


def show_loss_scale() -> str:
    """Show the lab and return the code of its number."""
    places = lab_places()
    with places.controls:
        name = pickers.segmented(
            PAGE, "scale_format", _("Format"), NAMES, default="float16", labels=short
        )
        power = pickers.select_slider(
            PAGE,
            "scale_power",
            _("Loss scale"),
            range(MAX_POWER + 1),
            default=0,
            labels=power_of_two,
        )
        source = pickers.segmented(
            PAGE, "scale_source", _("Gradients"), SOURCES, default="synthetic", labels=source_label
        )
        gradients = gradients_of(source)
        histogram = picked_histogram(gradients)
        st.caption(source_sentence(gradients, source))
    bands = loss_scale_bands(histogram, cast("FloatFormat", FORMATS[name]), 2.0**power)
    with places.headline:
        headline(one_gradient(bands) if source == "single" else sentence(bands))
    with places.picture:
        show_chart(
            loss_scale_figure(histogram, bands, theme_mode(), present=presenting()),
            key="lowp_scale",
            alt=loss_scale_alt(bands),
            table=loss_scale_table(bands),
            file_name="loss-scale",
        )
    return CODE.format(gradients=source_code(gradients, source), name=name, power=power)


def sentence(bands: GradientBands) -> str:
    """Return how the gradients fare."""
    return _(
        "At a loss scale of {scale}, {normal} of the gradients keep full precision in {format}; "
        "{zero} become zero, {overflow} overflow."
    ).format(
        scale=number(bands.scale),
        format=short(bands.format),
        normal=percent(bands.share(bands.num_normal)),
        zero=percent(bands.share(bands.num_zero)),
        overflow=percent(bands.share(bands.num_overflow)),
    )


def one_gradient(bands: GradientBands) -> str:
    """Return what becomes of the single gradient."""
    stored = float(FORMATS[bands.format].round(SINGLE * bands.scale))
    words = {
        "scale": number(bands.scale),
        "format": short(bands.format),
        "stored": number(stored, 4),
    }
    if bands.num_overflow:
        text = _("1e-8 × {scale} overflows {format}: {stored}.")
    elif bands.num_zero:
        text = _("1e-8 × {scale} in {format} is {stored}: the gradient is lost.")
    elif bands.num_subnormal:
        text = _("1e-8 × {scale} in {format} is {stored}: subnormal, some of its bits are lost.")
    else:
        text = _("1e-8 × {scale} in {format} is {stored}: full precision.")
    return text.format(**words)
