"""What the reader is asked to predict: the first step of Adam, and a cosine that is too short."""

from core.language import _
from core.train.optimizers.in_torch import scheduled_rates
from core.train.optimizers.rule import Rule, named_rule, run_rule
from pages.shared.questions import Choice, predict_then_reveal
from pages.train.optimizers_and_schedules.inputs import ASK

_LR = 0.1
_SMALL = 0.001
_LARGE = 1000.0


def ask_first_step() -> None:
    """Ask how far Adam's first step goes for a gradient a million times as large."""
    rule = named_rule("Adam", _LR)
    small, large = (_first_step(rule, slope) for slope in (_SMALL, _LARGE))
    choices = [
        Choice(
            _("A million times as far"),
            _("So SGD would do. Adam divides by the square root of the second moment, which is a "
              "million times as large too."),
        ),
        Choice(_("As far as the other: {length}").format(length=f"{small:.4g}")),
        Choice(
            _("A thousand times as far"),
            _("The square of the gradient is averaged, but its root is taken before dividing."),
        ),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("first_step"),
        _("One parameter has a gradient of {small}, another of {large}. How far does Adam's first "
          "step (lr = {lr}) move the second?").format(small=_SMALL, large=_LARGE, lr=_LR),
        choices,
        _("After bias correction m̂ = g and v̂ = g², so the step is lr·g/|g|: {first} for the one "
          "and {second} for the other.").format(first=f"{small:.4g}", second=f"{large:.4g}"),
    )  # fmt: skip


def _first_step(rule: Rule, slope: float) -> float:
    (step,) = run_rule(rule, lambda _p: (slope,), (0.0,), 1)
    return abs(step.after[0])


def ask_too_short() -> None:
    """Ask what CosineAnnealingLR(T_max=10) gives after 20 epochs."""
    rates = scheduled_rates("cosine", 20, 10)
    choices = [
        Choice(f"{0:g}", _("It was there at epoch 10. The cosine goes on, and climbs again.")),
        Choice(f"{rates[5]:.3g}", _("That is the rate of epoch 5, half way down.")),
        Choice(f"{rates[20]:.3g}"),
    ]
    predict_then_reveal(
        ASK.key("too_short"),
        _("CosineAnnealingLR(T_max=10) starts at {first}. What is the learning rate after 20 "
          "epochs?").format(first=rates[0]),
        choices,
        _("{low} at epoch 10 and {last} at epoch 20: T_max is half a period.").format(
            low=f"{rates[10]:.3g}", last=f"{rates[20]:.3g}"
        ),
    )  # fmt: skip
