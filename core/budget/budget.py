"""What a job needs of a device, beside what the device has; and what it holds at its peak."""

from dataclasses import dataclass
from typing import Literal

from core.budget.item import Item, total
from core.language import _

Verdict = Literal["fits", "close", "too_big"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """The bytes of a job on its most loaded device, and whether they fit.

    Attributes:
        item: The bytes of the most loaded device: one stage's tree, or the largest of several.
        stages: The tree of one device of each pipeline stage; one alone without a pipeline.
        capacity: Bytes that a process can fill with tensors on the device.
        capacity_band: How far off that may be: the relative error, below and above.
    """

    name: str
    item: Item
    stages: tuple[Item, ...]
    capacity: float
    capacity_band: tuple[float, float] = (0.0, 0.0)

    @property
    def largest(self) -> Item:
        """The tree of the most loaded stage."""
        return max(self.stages, key=lambda stage: stage.amount)

    @property
    def headroom(self) -> float:
        """Bytes left; negative where they do not fit."""
        return self.capacity - self.item.amount

    @property
    def fits(self) -> bool:
        """Whether the amount fits."""
        return self.item.amount <= self.capacity

    @property
    def verdict(self) -> Verdict:
        """Whether it fits at the worst ends of both bands, not even at the best, or between."""
        return verdict_of(self.item, self.capacity, self.capacity_band)

    @property
    def words(self) -> str:
        """The verdict, translated."""
        return fit_words(self.fits, is_sure=self.verdict != "close")


def fit_words(fits: bool, *, is_sure: bool) -> str:
    """Return whether something fits in translated words, or may, where that is not sure."""
    if is_sure:
        return _("it fits") if fits else _("it does not fit")
    return _("it may fit") if fits else _("it may not fit")


def verdict_of(need: Item, capacity: float, band: tuple[float, float]) -> Verdict:
    """Return whether what is needed fits, whatever the truth within both bands.

    Of a guess that is never said for certain.
    """
    if need.guess:
        return "close"
    below, above = band
    if need.high <= capacity * (1 - below):
        return "fits"
    return "close" if need.low <= capacity * (1 + above) else "too_big"


def at_peak(stage: Item) -> tuple[Item, ...]:
    """Return the parts of a device's tree at its peak, each name once.

    Of moments, one of which is the peak, only the parts of the largest are counted.
    """
    named: dict[str, list[Item]] = {}
    for part in stage.children:
        held: tuple[Item, ...] = (part,)
        if part.combine == "max":
            held = max(part.children, key=lambda moment: moment.amount).children
        for each in held:
            named.setdefault(each.name, []).append(each)
    return tuple(
        found[0] if len(found) == 1 else total(name, found, source=found[0].source)
        for name, found in named.items()
    )
