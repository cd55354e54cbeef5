"""A stated speed or size, what the bounds say about it, and the claims that one meets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from core.budget.check import check_choice, check_range
from core.budget.item import Item
from core.language import N_

ClaimKind = Literal["matmul", "decode", "forward", "training", "fits", "needs"]
Verdict = Literal["possible", "at_the_limit", "impossible", "overstated"]
CLAIM_KINDS: Final[tuple[ClaimKind, ...]] = get_args(ClaimKind)
DTYPES: Final = ("float32", "tf32", "bfloat16", "float16", "fp8", "fp4", "int8")
LIMIT: Final = 0.9  # nearer to a bound than this comes no published measurement that we know

_NOTES: Final = N_("course notes")
_SHEET: Final = N_("a table of data sheets")
_GPT_FAST: Final = N_("measured: gpt-fast, README")
_LLAMA: Final = N_("measured: Llama 3.1 model card, GPU hours")
MADE_UP: Final = N_("made-up example")


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

    @property
    def is_made_up(self) -> bool:
        """Whether nobody said it: an example to try the referee on."""
        return self.source == MADE_UP

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


CLAIMS: Final[Mapping[str, Claim]] = {
    "matmul-4090": Claim(
        kind="matmul", device="rtx-4090", stated=0.05e-3, size=4096, dtype="bfloat16",
        text=N_("A product of two 4096 × 4096 matrices takes 0.05 ms on an RTX 4090."),
        source=_NOTES,
    ),
    "70b-on-a-4090": Claim(
        kind="forward", device="rtx-4090", stated=0.2, model="llama-2-70b",
        text=N_("A forward pass of a 70B model takes 200 to 500 ms on an RTX 4090."),
        source=_NOTES,
    ),
    "13b-needs-80gb": Claim(
        kind="needs", device="a100-80gb", model="llama-2-13b",
        text=N_("A 13B model in bf16 needs an A100 with 80 GB."),
        source=_NOTES,
    ),
    "70b-needs-four": Claim(
        kind="needs", device="a100-80gb", num_devices=4, model="llama-2-70b",
        text=N_("A 70B model in bf16 needs at least four A100 with 80 GB."),
        source=_NOTES,
    ),
    "13b-int8-on-a-4090": Claim(
        kind="fits", device="rtx-4090", model="llama-2-13b", weight_format="int8_channel",
        text=N_("A 13B model in INT8 fits on an RTX 4090."),
        source=N_("the notes say that only 7B models do"),
    ),
    "32b-int4-on-a-4090": Claim(
        kind="fits", device="rtx-4090", model="qwen2.5-32b", weight_format="int4_group128",
        text=N_("A 32B model in INT4 fits on an RTX 4090."),
        source=N_("the notes say that only 7B models do"),
    ),
    "7b-105-tokens": Claim(
        kind="decode", device="a100-80gb", stated=104.9, model="llama-2-7b",
        text=N_("Llama-2 7B in bf16 generates 104.9 tokens/s on one A100."),
        source=_GPT_FAST,
    ),
    "7b-200-tokens": Claim(
        kind="decode", device="a100-80gb", stated=200, model="llama-2-7b",
        text=N_("Llama-2 7B in bf16 generates 200 tokens/s for one user on one A100."),
        source=MADE_UP,
    ),
    "h100-1979": Claim(
        kind="matmul", device="h100-sxm", stated=2 * 16_384**3 / 1979e12, size=16_384,
        dtype="bfloat16",
        text=N_("An H100 multiplies bf16 matrices at 1,979 TFLOP/s."),
        source=_SHEET,
    ),
    "405b-31m-hours": Claim(
        kind="training", device="h100-sxm", num_devices=16_384, stated=30.84e6 * 3600 / 16_384,
        model="llama-3.1-405b", num_tokens=15_600_000_000_000,
        text=N_("Llama-3.1 405B was trained on 15.6 T tokens in 30.84 M H100 hours."),
        source=_LLAMA,
    ),
    "70b-in-a-week": Claim(
        kind="training", device="h100-sxm", num_devices=1024, stated=7 * 86_400,
        model="llama-3.1-70b", num_tokens=15_000_000_000_000,
        text=N_("1,024 H100 train a 70B model on 15 T tokens within a week."),
        source=MADE_UP,
    ),
}  # fmt: skip
"""Key, as in a link -> claim; some of them are true."""
