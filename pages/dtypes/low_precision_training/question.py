"""What to predict before a lab is moved, one question a lab; every answer is computed.

Why long: eight labs, eight questions; side by side one sees that no two ask the same.
"""

from typing import Final, cast

import numpy as np
import streamlit as st

from core.dtypes import FORMATS, FloatFormat
from core.dtypes.labs import (
    accumulate,
    color_picture,
    gradient_histogram,
    half_gap_above,
    loss_scale_bands,
    matmul,
    normal_matrices,
    run_scaler,
    softmax_naive,
    stored_picture,
    weight_updates,
)
from core.figures.dtypes.written import number, percent, short
from core.language import _
from pages.shared.questions import Choice, predict_then_reveal

NUM_ONES: Final = 1000
GRADIENT: Final = 1e-8
PEAK: Final = 10.0  # of the gradients of every step; no step of the lab's slider
CHANCE_UPDATE: Final = 0.03
DEPTH: Final = 4096
PRODUCTS: Final = (
    ("float16", "bfloat16"),
    ("float16", "float16"),
    ("float8_e4m3fn", "float32"),
    ("bfloat16", "float32"),
)
"""In what matrices are stored -> in what sums are kept."""
DARK: Final = 2.0**-10
EIGHT_BITS: Final = ("float8_e4m3fn", "float8_e5m2", "int8")


@st.cache_data(max_entries=1, show_spinner=False)
def answers() -> dict[str, float]:
    """Return the three answers."""
    bfloat16 = FORMATS["bfloat16"]
    return {
        "sum": accumulate(np.ones(NUM_ONES), bfloat16).result,
        "weight": float(weight_updates(1.0, 1e-3, NUM_ONES, bfloat16).stored[-1]),
        "exp": float(softmax_naive([11.1], FORMATS["float16"]).exponentials[0]),
    }


def ask_sum() -> None:
    """Ask for the sum of 1000 ones."""
    predict_then_reveal(
        "lowp_ones",
        _("A loop adds 1.0 a thousand times in bfloat16. What is the sum?"),
        [
            Choice("1,000", _("That needs ten bits of precision; bfloat16 has eight.")),
            Choice(number(answers()["sum"])),
            Choice("inf", _("The largest bfloat16 is 3.4e38: the range is not the problem.")),
        ],
        _(
            "From 256 on, neighbours are 2 apart: 256 + 1 lies halfway, and the tie goes to the "
            "even one, 256. `torch.sum` gives 1,000, because it adds in FP32."
        ),
    )


def ask_update() -> None:
    """Ask where a weight ends that is stored in bfloat16."""
    predict_then_reveal(
        "lowp_weight",
        _("A weight of 1.0 in bfloat16 is raised by 0.001, a thousand times. Where does it end?"),
        [
            Choice("2", _("So it would with an FP32 master copy.")),
            Choice("1.5", _("Not even the first step moves it.")),
            Choice(number(answers()["weight"])),
        ],
        _("The next bfloat16 above 1 is 1.0078125; 1.001 is nearer to 1, every time."),
    )


def ask_exp() -> None:
    """Ask what exp(11.1) is in float16."""
    predict_then_reveal(
        "lowp_exp",
        _("exp(11.1) is 66,171. What is it in float16?"),
        [
            Choice("66,171", _("Larger than 65,504, the largest number of float16.")),
            Choice("65,504", _("A cast could saturate; arithmetic in float16 does not.")),
            Choice(number(answers()["exp"])),
        ],
        _("And inf / inf is NaN: so a softmax subtracts the largest logit first."),
    )


@st.cache_data(max_entries=1, show_spinner=False)
def least_scales() -> tuple[int, int]:
    """Return the smallest powers of two that keep anything, and every bit, of 1e-8 in float16."""
    histogram = gradient_histogram([GRADIENT])
    half = cast("FloatFormat", FORMATS["float16"])
    bands = [loss_scale_bands(histogram, half, 2.0**power) for power in range(33)]
    kept = next(power for power, each in enumerate(bands) if not each.num_zero)
    whole = next(power for power, each in enumerate(bands) if each.num_normal)
    return 2**kept, 2**whole


def ask_loss_scale() -> None:
    """Ask for the smallest scale under which a gradient keeps full precision."""
    kept, whole = least_scales()
    first, half = 2**16, FORMATS["float16"]
    stored = float(half.round(GRADIENT * kept))
    predict_then_reveal(
        "lowp_least_scale",
        _(
            "A gradient of 1e-8 is lost in float16. What is the smallest power of two as a loss "
            "scale under which it keeps full precision?"
        ),
        [
            Choice(
                f"{kept:,}",
                _(
                    "Then it is no longer zero, but {stored}, the smallest number: {error} off."
                ).format(stored=number(stored, 4), error=percent(stored / (GRADIENT * kept) - 1)),
            ),
            Choice(f"{whole:,}"),
            Choice(
                f"{first:,}",
                _("GradScaler begins with it, and it is enough; {least} is so too.").format(
                    least=f"{whole:,}"
                ),
            ),
            Choice(
                f"{2**32:,}",
                _("float16 still holds the product, {product}; far less is enough.").format(
                    product=number(GRADIENT * 2**32, 3)
                ),
            ),
        ],
        _(
            "1e-8 × {scale} = {product} is the first product beyond {normal}, the smallest normal "
            "number of float16. Below it numbers are subnormal and have fewer bits."
        ).format(
            scale=f"{whole:,}",
            product=number(GRADIENT * whole, 4),
            normal=number(float(half.smallest_normal), 4),
        ),
    )


@st.cache_data(max_entries=1, show_spinner=False)
def skipped_steps() -> tuple[int, float]:
    """Return how many first steps are skipped at a gradient of 10, and the scale that holds it."""
    steps = run_scaler([PEAK] * 20, FORMATS["float16"])
    count = next(place for place, each in enumerate(steps) if not each.found_inf)
    return count, steps[count].scale


def ask_scaler() -> None:
    """Ask how many steps GradScaler throws away before one counts."""
    count, scale = skipped_steps()
    first, largest = 2.0**16, float(FORMATS["float16"].max)
    predict_then_reveal(
        "lowp_skipped",
        _(
            "The largest gradient of every step is {peak}, and GradScaler begins at a scale of "
            "{first}. How many steps does it skip in float16 before the first one counts?"
        ).format(peak=number(PEAK), first=number(first)),
        [
            Choice(
                "0",
                _("{peak} × {first} = {product} is beyond {largest}.").format(
                    peak=number(PEAK),
                    first=number(first),
                    product=number(PEAK * first),
                    largest=number(largest),
                ),
            ),
            Choice(
                "1",
                _("After one halving it is {product}, still beyond {largest}.").format(
                    product=number(PEAK * first / 2), largest=number(largest)
                ),
            ),
            Choice(f"{count}"),
            Choice(
                "16",
                _("That is down to a scale of 1; it stops as soon as the product fits."),
            ),
        ],
        _(
            "Each skipped step halves the scale once: at {scale} the product is {product}, the "
            "first one that fits below {largest}."
        ).format(scale=number(scale), product=number(PEAK * scale), largest=number(largest)),
    )


@st.cache_data(max_entries=1, show_spinner=False)
def chances() -> dict[str, float]:
    """Return the chance that a weight of 1 moves under an update of 0.03, format by format."""
    names = ("float8_e4m3fn", "bfloat16")
    return {name: CHANCE_UPDATE / (2 * half_gap_above(FORMATS[name], 1.0)) for name in names}


def ask_chance() -> None:
    """Ask how often stochastic rounding moves a weight whose update is far below the gap."""
    chance = chances()["float8_e4m3fn"]
    gap = CHANCE_UPDATE / chance
    predict_then_reveal(
        "lowp_chance",
        _(
            "A weight of 1 in E4M3 gets an update of {update} and is rounded stochastically. How "
            "likely does it move?"
        ).format(update=number(CHANCE_UPDATE)),
        [
            Choice(
                percent(0.0),
                _("So it would be to nearest: {update} is less than half a gap.").format(
                    update=number(CHANCE_UPDATE)
                ),
            ),
            Choice(percent(CHANCE_UPDATE), _("The chance is counted in gaps, not in weights.")),
            Choice(percent(chance)),
            Choice(
                percent(0.5), _("Only in the middle between two neighbours are both as likely.")
            ),
        ],
        _(
            "The next number above 1 is {gap} away: {update} / {gap} = {chance}. If it moves, it "
            "moves by the whole gap, so that on average the weight gains {update}."
        ).format(update=number(CHANCE_UPDATE), gap=number(gap), chance=percent(chance)),
    )


@st.cache_data(max_entries=1, show_spinner=False)
def product_errors() -> dict[tuple[str, str], float]:
    """Return the error of the same product, by the formats of its matrices and of its sums."""
    a, b = normal_matrices(DEPTH)
    return {
        (storage, sums): matmul(a, b, FORMATS[storage], FORMATS[sums]).error
        for storage, sums in PRODUCTS
    }


def ask_matmul() -> None:
    """Ask which product is the most exact: bits of the matrices against bits of the sums."""
    errors = product_errors()
    best = min(errors, key=errors.__getitem__)
    named = {
        pair: _("{storage} matrices, sums in {sums}").format(
            storage=short(pair[0]), sums=short(pair[1])
        )
        for pair in errors
    }
    wrong = _("Its error is {error}; the best has {best}.")
    listed = [
        f"{named[pair]} {percent(errors[pair])}" for pair in sorted(errors, key=errors.__getitem__)
    ]
    predict_then_reveal(
        "lowp_best_product",
        _("A product with an inner dimension of {depth}: which of these is the most exact?").format(
            depth=f"{DEPTH:,}"
        ),
        [
            Choice(
                named[pair],
                None
                if pair == best
                else wrong.format(error=percent(errors[pair]), best=percent(errors[best])),
            )
            for pair in PRODUCTS
        ],
        _(
            "{errors}. The bits of the sums decide: FP16 stores eight times as finely as BF16, and "
            "loses all of it where its sums are rounded {depth} times."
        ).format(errors=_("; ").join(listed), depth=f"{DEPTH:,}"),
    )


@st.cache_data(max_entries=1, show_spinner=False)
def shades_in_the_dark() -> dict[str, int]:
    """Return how many shades of a picture 1024 times as dark three formats keep."""
    picture = np.unique(color_picture())  # shades are counted once
    return {name: stored_picture(picture, FORMATS[name], DARK).num_shades for name in EIGHT_BITS}


def ask_picture() -> None:
    """Ask which format of 8 bits bears a very dark picture."""
    shades = shades_in_the_dark()
    best = max(shades, key=shades.__getitem__)
    e4m3, e5m2 = (FORMATS[name].smallest_subnormal for name in EIGHT_BITS[:2])
    reasons = {
        "float8_e4m3fn": _("Its smallest number is {smallest}: brighter than the picture.").format(
            smallest=number(float(e4m3), 3)
        ),
        "float8_e5m2": _("It reaches down to {smallest}, but has two bits for shades.").format(
            smallest=number(float(e5m2), 3)
        ),
        "int8": _("It has few shades near zero, but here it is stored with a scale."),
    }
    listed = [f"{short(name)} {count:,}" for name, count in shades.items()]
    predict_then_reveal(
        "lowp_dark",
        _("The picture is made {times} times as dark. Which format of 8 bits keeps most of its "
          "shades?").format(times=number(1 / DARK)),
        [Choice(short(name), None if name == best else reasons[name]) for name in EIGHT_BITS],
        _(
            "Shades left: {shades}. INT8 has one scale factor for the whole picture, the largest "
            "pixel divided by 127, so the brightness cancels. A float has none: it must hold the "
            "dark by its exponent."
        ).format(shades=_(", ").join(listed)),
    )  # fmt: skip
