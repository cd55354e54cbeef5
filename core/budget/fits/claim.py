"""A stated speed or size, and what the physical bounds say about it."""

from dataclasses import dataclass
from typing import Final, Literal

from core.budget.check import check_choice, check_range
from core.budget.item import Item

ClaimKind = Literal["matmul", "decode", "forward", "training", "fits", "needs"]
Verdict = Literal["possible", "at_the_limit", "impossible", "overstated"]
CLAIM_KINDS: Final[tuple[ClaimKind, ...]] = (
    "matmul",
    "decode",
    "forward",
    "training",
    "fits",
    "needs",
)
DTYPES: Final = ("float32", "tf32", "bfloat16", "float16", "fp8", "fp4", "int8")
LIMIT: Final = 0.9  # nearer to a bound than this comes no published measurement that we know


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """What somebody says.

    Attributes:
        kind: "matmul", "forward" and "training" state seconds, "decode" tokens/s; "fits" says that
            the weights fit on the devices, "needs" that fewer or smaller devices do not do.
        device: A key of DEVICES.
        num_devices: How many of them.
        stated: Seconds, or tokens/s; unused where memory is claimed.
        model: A key of MODELS; unused for a matrix product.
        weight_format: How the weights are stored.
        dtype: What a matrix product computes in: a key of `DeviceSpec.peak`.
        size: Rows and columns of the square matrices of a product.
        num_tokens: Tokens of a forward pass or of a training run; sequences of a decoding step.
        text: The claim in words, a message id.
        source: Who says so, a message id.
    """

    kind: ClaimKind
    device: str
    num_devices: int = 1
    stated: float = 0.0
    model: str = ""
    weight_format: str = "bfloat16"
    dtype: str = "bfloat16"
    size: int = 4096
    num_tokens: int = 1
    text: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, CLAIM_KINDS)
        check_choice("dtype", self.dtype, DTYPES)
        check_range("num_devices", self.num_devices, 1, 1_000_000)
        check_range("stated", self.stated, 0, 1e15)
        check_range("size", self.size, 1, 10_000_000)
        check_range("num_tokens", self.num_tokens, 1, 10**15)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """What follows from the bounds.

    Attributes:
        claim: What was said.
        verdict: "impossible" breaks a bound, "at_the_limit" comes nearer to it than anything
            measured, "overstated" asks for more than is needed.
        stated: What was said, as a number in the unit of the bound.
        bound: The least time, the most tokens/s, or the bytes that are needed.
        ratio: How many times the claim is beyond the bound; below 1 it keeps within it. For
            "needs": how many times more memory is asked for than is needed.
        enough: For "needs": a key of DEVICES and how many of them hold the weights already.
        misfit: The bytes of the weights where they do not fit at all, whatever the speed.
        memory: Bytes on the boxes of all devices together.
    """

    claim: Claim
    verdict: Verdict
    stated: Item
    bound: Item
    ratio: float
    enough: tuple[str, int] | None = None
    misfit: Item | None = None
    memory: float = 0.0
