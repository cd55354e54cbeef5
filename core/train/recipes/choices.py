"""What two to four recipes can differ in, and the presets: comparisons whose gap was measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from core.budget.table import read_table
from core.language import _
from core.train.config import TrainConfig

Settings = Mapping[str, Any]
Gap = Literal["loss", "activations", "finite"]
MOST: Final = 4  # recipes in one comparison
HOLDER: Final = "compare-recipes"  # what holds the CPU is called so
TURN: Final = 20  # steps that a recipe trains before the next one has its turn
SIZES: Final = {"batch_size": 8, "seq_len": 32}  # a minute is enough where 16 bits are slow
# Validation reads the same sequences whatever a recipe's batch is.
NUM_VALIDATED: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One value of what differs: in the small run, and in a budget at 7B; `label` a message id."""

    label: str
    run: Settings
    budget: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Axis:
    """What the recipes of a comparison differ in; its first option is the usual one."""

    label: str
    options: Mapping[str, Option]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two to four recipes that differ in one thing; all else, the seed too, is the same.

    Raises:
        ValueError: If there are too few or too many values, or one that the axis does not have.
    """

    axis: str
    values: tuple[str, ...]
    num_steps: int = 200
    seed: int = 1337
    base: tuple[tuple[str, Any], ...] = ()  # further settings, of a preset

    def __post_init__(self) -> None:
        known = AXES[self.axis].options
        if strange := [value for value in self.values if value not in known]:
            text = _("{value!r} is none of the recipes; choose from {known}.")
            raise ValueError(text.format(value=strange[0], known=_(", ").join(known)))
        if not 2 <= len(set(self.values)) == len(self.values) <= MOST:
            text = _("{count} recipes are chosen; choose two to four, each once.")
            raise ValueError(text.format(count=len(set(self.values))))

    @property
    def options(self) -> tuple[Option, ...]:
        """The recipes, in the reader's order."""
        return tuple(AXES[self.axis].options[value] for value in self.values)

    @property
    def names(self) -> tuple[str, ...]:
        """What the recipes are called, translated."""
        return tuple(_(option.label) for option in self.options)

    def config(self, option: Option) -> TrainConfig:
        """Return the small run of a recipe."""
        plain = {"precision": "fp32", "device": "cpu", "seed": self.seed, **SIZES}
        rates = {"learning_rate": 2e-3, "min_learning_rate": 2e-4, "warmup_steps": 20}
        settings = {**plain, **rates, **dict(self.base), **option.run}
        settings["eval_batches"] = NUM_VALIDATED // int(settings["batch_size"])
        return TrainConfig.from_json({**settings, "num_steps": self.num_steps})


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A comparison whose last recipe differs from its first by more than five seeds spread.

    `gap` is in what; `label` and `why` are message ids.
    """

    label: str
    why: str
    gap: Gap
    comparison: Comparison


def _preset(row: dict[str, Any]) -> Preset:
    words = {name: row.pop(name) for name in ("label", "why", "gap")}
    values, base = tuple(row.pop("values")), tuple(row.pop("base", {}).items())
    return Preset(**words, comparison=Comparison(**row, values=values, base=base))


_ROWS: Final = read_table(__file__)
AXES: Final[Mapping[str, Axis]] = {
    key: Axis(row["label"], {value: Option(**each) for value, each in row["options"].items()})
    for key, row in _ROWS["axes"].items()
}
PRESETS: Final[Mapping[str, Preset]] = {key: _preset(row) for key, row in _ROWS["presets"].items()}
