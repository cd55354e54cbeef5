"""What is compared: a preset, or two to four recipes of the reader's own."""

from dataclasses import dataclass
from typing import Final

from core.language import N_, _
from core.train.recipes.choices import AXES, MOST, PRESETS, Comparison
from pages.shared.inputs import Inputs

ASK: Final = Inputs("recipes")
OWN: Final = "own"
_OWN_STEPS: Final = 200
_OVER: Final = {"step": N_("steps"), "seconds": N_("seconds")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What is compared; `preset` is "" for the reader's own recipes."""

    preset: str
    comparison: Comparison
    over: str  # "step" or "seconds": what the curves are drawn over


def choose_case() -> Case:
    """Show the inputs and return what is compared."""
    titles = {key: row.label for key, row in PRESETS.items()} | {OWN: N_("Your own recipes")}
    preset = ASK.selectbox("preset", _("Experiment"), titles, default="master")
    comparison = _own() if preset == OWN else PRESETS[preset].comparison
    over = ASK.segmented("over", _("Curves over"), _OVER, default="step")
    return Case(preset="" if preset == OWN else preset, comparison=comparison, over=over)


def _own() -> Comparison:
    labels = {key: row.label for key, row in AXES.items()}
    axis = ASK.selectbox("axis", _("What differs"), labels, default="clipping")
    options = AXES[axis].options
    values = ASK.several(
        f"of_{axis}", _("Recipes"), tuple(options), default=tuple(options)[:2], most=MOST,
        labels=lambda value: _(options[value].label),
    )  # fmt: skip
    return Comparison(axis=axis, values=values, num_steps=_OWN_STEPS)
