"""What the proof found, as data that travels as JSON, and what it comes to: no torch, no numpy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.language import N_, _

Direction = Literal["decode", "encode", "back"]
DIRECTIONS = {
    "decode": N_("codes decoded"),
    "encode": N_("float32 encoded"),
    "back": N_("codes brought back"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ProofRow:
    """What one comparison found.

    Attributes:
        format: The format's name.
        oracle: Who was asked; "" for decoding and encoding again, which needs nobody.
        direction: "decode", "encode", or "back": encode(decode(code)) is the code.
        num_inputs: Codes or numbers that were really tried.
        represents: How many they stand for.
        num_mismatches: Differences, the known ones apart.
        first_mismatch: The first of them, as text; "" without any.
        num_known: Inputs for which the oracle is known to be wrong and really was.
        reasons: Why, as sentences to be translated.
        seconds: How long it took.
        is_control: Whether the codec was made wrong on purpose: then mismatches must be found.
    """

    format: str
    oracle: str
    direction: Direction
    num_inputs: int
    represents: int
    num_mismatches: int
    first_mismatch: str = ""
    num_known: int = 0
    reasons: tuple[str, ...] = ()
    seconds: float = 0.0
    is_control: bool = False

    @property
    def holds(self) -> bool:
        """Whether the comparison came out as it must."""
        return (self.num_mismatches > 0) == self.is_control


def row_from_json(data: Mapping[str, Any]) -> ProofRow:
    """Read a row back.

    Raises:
        ValueError: If the data is no row of a proof.
    """
    try:
        return ProofRow(**{**data, "reasons": tuple(data["reasons"])})
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no row of a proof: {error}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class ProofSummary:
    """The numbers that a reader remembers.

    Attributes:
        num_formats: Formats compared.
        num_comparisons: Rows, the controls apart.
        num_tried: Codes and numbers really tried, the controls apart.
        num_mismatches: Differences that nothing excuses; 0 is the claim.
        num_controls: Rows in which the codec was wrong on purpose.
        num_missed_controls: Those in which nobody noticed; 0 is the claim.
        seconds: Of all rows together.
    """

    num_formats: int
    num_comparisons: int
    num_tried: int
    num_mismatches: int
    num_controls: int
    num_missed_controls: int
    seconds: float


def summary_of(rows: Sequence[ProofRow]) -> ProofSummary:
    """Return what a proof comes to."""
    real = [row for row in rows if not row.is_control]
    controls = [row for row in rows if row.is_control]
    return ProofSummary(
        num_formats=len({row.format for row in real}),
        num_comparisons=len(real),
        num_tried=sum(row.num_inputs for row in real),
        num_mismatches=sum(row.num_mismatches for row in real),
        num_controls=len(controls),
        num_missed_controls=sum(not row.holds for row in controls),
        seconds=sum(row.seconds for row in rows),
    )


def proof_table(rows: Sequence[ProofRow]) -> dict[str, list[str]]:
    """Return a line per format: what was tried, against whom, and what differed."""
    real = [row for row in rows if not row.is_control]
    names = list(dict.fromkeys(row.format for row in real))
    of = {name: [row for row in real if row.format == name] for name in names}
    table = {_("format"): names}
    for direction, words in DIRECTIONS.items():
        table[_(words)] = [f"{_most(of[name], direction):,}" for name in names]
    table[_("asked")] = [
        _(", ").join(dict.fromkeys(_(row.oracle) for row in of[name] if row.oracle))
        for name in names
    ]
    table[_("known library errors")] = [_sum(of[name], "num_known") for name in names]
    table[_("mismatches")] = [_sum(of[name], "num_mismatches") for name in names]
    return table


def _most(rows: Sequence[ProofRow], direction: str) -> int:
    return max((row.num_inputs for row in rows if row.direction == direction), default=0)


def _sum(rows: Sequence[ProofRow], name: str) -> str:
    return f"{sum(getattr(row, name) for row in rows):,}"
