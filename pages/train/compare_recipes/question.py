"""The class predicts before it trains: which recipe loses, by what was recorded."""

from core.language import N_, _
from core.train.recipes.choices import PRESETS, Preset
from core.train.recipes.results import Result, recorded
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look
from pages.train.compare_recipes.inputs import ASK

_ASKED = {
    "loss": N_("After {steps} steps: which recipe has the lowest validation loss?"),
    "activations": N_("Which recipe keeps the fewest bytes for the backward pass?"),
    "finite": N_("Which recipe is still training after {steps} steps?"),
}


def ask_what_differs() -> None:
    """Ask about the experiment that is chosen; about the first one for the reader's own."""
    key = ASK.used("preset", "master")
    key = key if key in PRESETS else "master"
    preset, results = PRESETS[key], recorded()[key]
    names = preset.comparison.names
    right = min(range(len(results)), key=lambda place: _measure(preset, results[place]))
    told = [_("{name}: {amount}").format(name=name, amount=_amount(preset, each))
            for name, each in zip(names, results, strict=True)]  # fmt: skip
    wrong = _("No: {amount}.")
    choices = [Choice(name, None if place == right else wrong.format(amount=told[place]))
               for place, name in enumerate(names)]  # fmt: skip
    choices.append(Choice(_("No difference that one would see"), _("There is one.")))
    numbers = _("Recorded: {parts}.").format(parts=_("; ").join(told))
    explanation = _("{numbers} {why}").format(numbers=numbers, why=_(preset.why))
    asked = _(_ASKED[preset.gap]).format(steps=preset.comparison.num_steps)
    predict_then_reveal(ASK.key(f"predict_{key}"), asked, choices, explanation)


def _measure(preset: Preset, result: Result) -> float:
    return result.last if preset.gap in ("loss", "finite") else result.held(preset.gap)


def _amount(preset: Preset, result: Result) -> str:
    if preset.gap not in ("loss", "finite"):
        return look().format_bytes(result.held(preset.gap))
    if result.tensor:
        return _("not finite at step {step}").format(step=result.num_steps + 1)
    return _("a loss of {loss}").format(loss=f"{result.last:.3f}")
