"""How a model is served: formats, lengths, how many at once, and how well the device is used."""

from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from core.budget.check import check_choice, check_range
from core.budget.recipe import MAX_TOKENS

Compute = Literal["weight-only", "native"]
COMPUTES: Final[tuple[Compute, ...]] = get_args(Compute)
LEAST_MBU: Final = 0.001


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingPlan:
    """One way to serve.

    Attributes:
        weight_format: A name of `core.dtypes` FORMATS or BLOCK_FORMATS for the matrices of the
            layers; embeddings, norms and head stay in 16 bits.
        kv_format: The same for the KV cache.
        compute: "weight-only" turns the codes into 16 bits before they are multiplied; "native"
            multiplies them as they are stored, where device and format allow it.
        output_len: Tokens of an answer; prompt and answer together are the context.
        mfu: Share of the peak that prefill reaches.
        mbu: Share of the bandwidth that decoding reaches.
    """

    weight_format: str = "bfloat16"
    kv_format: str = "bfloat16"
    compute: Compute = "weight-only"
    prompt_len: int = 2048
    output_len: int = 512
    concurrency: int = 1
    tensor: int = 1
    mfu: float = 0.5
    mbu: float = 0.6

    def __post_init__(self) -> None:
        check_choice("compute", self.compute, COMPUTES)
        check_range("prompt_len", self.prompt_len, 1, MAX_TOKENS)
        check_range("output_len", self.output_len, 0, MAX_TOKENS)
        check_range("concurrency", self.concurrency, 1, 1_000_000)
        check_range("tensor", self.tensor, 1, 1024)
        check_range("mfu", self.mfu, 0.001, 1)
        check_range("mbu", self.mbu, LEAST_MBU, 1)

    @property
    def context(self) -> int:
        """Tokens of prompt and answer."""
        return self.prompt_len + self.output_len


def with_context(serving: ServingPlan, context: int) -> ServingPlan:
    """Return the plan with sequences of `context` tokens: the prompt changes first.

    >>> with_context(ServingPlan(prompt_len=2048, output_len=512), 100).prompt_len
    1
    """
    prompt = max(1, context - serving.output_len)
    return replace(serving, prompt_len=prompt, output_len=context - prompt)
