"""What the reader is asked to predict: a loss that broadcasts, and a row without any key."""

from dataclasses import replace

from core.language import _
from core.tensors.broadcasting import explain_broadcast
from core.tensors.masks import MaskSpec, run_mask
from core.units import format_exact
from pages.shared.questions import Choice, predict_then_reveal
from pages.tensors.broadcasting.inputs import ASK

_PREDICTED, _TARGET = (32, 1), (32,)


def ask_about_loss() -> None:
    """Ask for the shape of (32, 1) - (32,); the answer is computed."""
    verdict = explain_broadcast(_PREDICTED, _TARGET)
    rows, columns = verdict.shape
    choices = [
        Choice(
            str(_PREDICTED),
            _("So it would be if the 32 of the target met the 32 of the prediction. But shapes are "
              "aligned from the right: it meets the 1."),
        ),
        Choice(
            str(_TARGET),
            _("No dimension is ever dropped: the result has as many as the longer shape."),
        ),
        Choice(str(verdict.shape)),
        Choice(
            _("An error"),
            _("An error would be welcome here. A 1 matches every length, so torch says nothing."),
        ),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("loss"),
        _(
            "A model predicts a tensor of shape {predicted}, the target has the shape {target}. "
            "Which shape has predicted - target?"
        ).format(predicted=_PREDICTED, target=_TARGET),
        choices,
        _(
            "The target counts as (1, {columns}); both stretch to {shape}. The loss is the mean of "
            "{count} differences, most of them between an answer and somebody else's target, and "
            "training goes on without a word."
        ).format(columns=columns, shape=verdict.shape, count=format_exact(rows * columns)),
    )


def ask_about_empty_row() -> None:
    """Ask what attention returns for a query that sees no key; torch is asked."""
    fused = MaskSpec(kind="tril", length=4, amount=-1, inverted=False, route="sdpa")
    by_hand = run_mask(replace(fused, inverted=True, route="softmax"))
    choices = [
        Choice(
            _("0 for every key"),
            _("softmax divides by the sum of the exponentials: here 0 / 0. Only a kernel that "
              "looks for such rows returns 0."),
        ),
        Choice(
            _("the same weight for every key"),
            _("So it would be if the row had −10,000 instead of −∞: all scores equal again."),
        ),
        Choice(_("NaN in {count} row").format(count=by_hand.num_nan)),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("empty"),
        _(
            "`scores.masked_fill(~ones.tril(-1), -inf).softmax(-1)` for 4 tokens: the first query "
            "sees no key. What are its weights?"
        ),
        choices,
        _(
            "exp(−∞) is 0 for each key, their sum is 0, and 0 / 0 is NaN; one step of training "
            "carries it into every weight. The same mask in scaled_dot_product_attention of this "
            "torch gives {count} rows of NaN: it returns 0 there."
        ).format(count=run_mask(fused).num_nan),
    )
