"""Questions about casts, answered by the codec: 465 in E4M3, and 1e-8 in FP16."""

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.language import _
from pages.dtypes.rounding_and_overflow.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal


def ask_both() -> None:
    """Ask what becomes of a number too large, and of one very small."""
    _ask_beyond_the_largest()
    _ask_a_small_number()


def _ask_beyond_the_largest() -> None:
    """Ask what E4M3 makes of 465."""
    e4m3 = FORMATS["float8_e4m3fn"]
    largest = digits(e4m3.max)
    over = digits(explain_cast(e4m3, 465).result)
    tie = digits(explain_cast(e4m3, 464).result)
    rounded = digits(explain_cast(e4m3, 464, "nearest_even", "saturate").result)
    predict_then_reveal(
        ASK.key("beyond"),
        _("{max} is the largest number of float8_e4m3fn. What does it make of 465 when it does not "
          "saturate?").format(max=largest),
        (
            Choice(
                rounded,
                _("464 still becomes {tie}: a tie to even. 465 lies past the middle.").format(
                    tie=tie
                ),
            ),
            Choice("480", _("That would be the next number; its code means NaN instead.")),
            Choice("inf", _("E4M3 has no infinity: its codes went to more numbers.")),
            Choice(over),
        ),
        _(
            "The next step after {max} would be 480, the middle is 464. Up to the middle a number "
            "becomes {tie}; beyond it the format has only {over}. Saturating, it stays {max}."
        ).format(max=largest, tie=tie, over=over),
    )  # fmt: skip


def _ask_a_small_number() -> None:
    """Ask what FP16 makes of 1e-8."""
    half, brain = FORMATS["float16"], FORMATS["bfloat16"]
    smallest = digits(half.smallest_subnormal, 6)
    normal = digits(half.smallest_normal, 6)
    predict_then_reveal(
        ASK.key("small"),
        _("What is left of 1e-8 in float16?"),
        (
            Choice(digits(explain_cast(half, "1e-8").result)),
            Choice(
                normal, _("That is the smallest normal number; subnormal ones lie far below it.")
            ),
            Choice(
                smallest,
                _("The smallest number is nearer to 1e-8 than zero only from half of it on."),
            ),
            Choice(
                digits(explain_cast(brain, "1e-8").result, 6),
                _("That is bfloat16: eight exponent bits reach far lower."),
            ),
        ),
        _(
            "The smallest number of float16 is {smallest}. 1e-8 is less than half of it, so zero "
            "is nearer. A gradient of this size is lost, unless the loss is scaled up first."
        ).format(smallest=smallest),
    )
