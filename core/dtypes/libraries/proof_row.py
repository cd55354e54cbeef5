"""One comparison of the proof, as data that travels as JSON; needs neither torch nor numpy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Direction = Literal["decode", "encode", "back"]


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
