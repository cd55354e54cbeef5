"""Questions about casts, answered by the codec: 465 in E4M3, and 1e-8 in FP16.

And about torch, answered by what the torch of this machine did when it was asked.
"""

from typing import Final

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.libraries.library_records import CastRow, OperationRow
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.language import _
from core.machine.kept_library import cached_library_report
from pages.dtypes.rounding_and_overflow.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal

ASKED_DTYPE: Final = "float8_e4m3fn"


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
                _("464 still becomes {tie}: a tie to even. 465 lies past halfway.").format(
                    tie=tie
                ),
            ),
            Choice("480", _("That would be the next number; its code means NaN instead.")),
            Choice("inf", _("E4M3 has no infinity: its codes went to more numbers.")),
            Choice(over),
        ),
        _(
            "The next step after {max} would be 480, halfway lies 464. Up to there a number "
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


def ask_your_torch() -> None:
    """Ask what this torch does with E4M3: of what another view shows, so that it is not seen yet.

    Nobody has asked torch: then the questions of the page.
    """
    report = cached_library_report()
    operations = () if report is None else report.operations
    casts = () if report is None else report.casts
    sums = [
        row
        for row in operations
        if (row.dtype, row.operation, row.device) == (ASKED_DTYPE, "add", "cpu")
    ]
    far = [row for row in casts if (row.format, row.case) == (ASKED_DTYPE, "far")]
    if ASK.used("torch") == "operations" and far:
        _ask_about_a_cast(far[0])
    elif sums:
        _ask_about_a_sum(sums[0])
    else:
        ask_both()


def _ask_about_a_sum(row: OperationRow) -> None:
    """Ask what torch makes of two E4M3 tensors that are added."""
    outcome = (
        _("It was tried on this machine, and it works.")
        if row.works
        else _("It was tried on this machine; torch says: {message}").format(
            message=f"`{row.message}`"
        )
    )
    works = _("A tensor of {dtype}").format(dtype=ASKED_DTYPE)
    refused = _("An error")
    predict_then_reveal(
        ASK.key("torch_sum"),
        _("x and y are tensors of {dtype} on the CPU. What does x + y give?").format(
            dtype=ASKED_DTYPE
        ),
        (
            Choice(works, None if row.works else outcome),
            Choice(
                _("A tensor of {dtype}").format(dtype="float32"),
                _("Dtypes are promoted where they differ; here both are the same."),
            ),
            Choice(refused, outcome if row.works else None),
        ),
        _(
            "{outcome} These dtypes are made for storage and for matrix units: to compute anything "
            "else, convert first. *Operations* shows what works with which dtype."
        ).format(outcome=outcome),
    )


def _ask_about_a_cast(row: CastRow) -> None:
    """Ask what torch makes of the largest float32 in E4M3."""
    answer = "–" if row.torch is None else digits(row.torch)
    largest, specified = digits(FORMATS[ASKED_DTYPE].max), digits(row.ours)
    reasons = {
        specified: _("The specification allows it, but this torch saturates."),
        largest: _("The specification allows it, but this torch does not saturate."),
        "inf": _("E4M3 has no infinity: its codes went to more numbers."),
    }
    predict_then_reveal(
        ASK.key("torch_far"),
        _(
            "What does the torch of this machine make of the largest float32, {value}, in {dtype}?"
        ).format(value=digits(row.value, 5), dtype=ASKED_DTYPE),
        [
            Choice(text, None if text == answer else reasons[text])
            for text in dict.fromkeys([*reasons, answer])
        ],
        _(
            "Asked on this machine: {answer}. Both NaN and the largest number are allowed by the "
            "specification of OCP; *All differences* shows who chose which."
        ).format(answer=answer),
    )
