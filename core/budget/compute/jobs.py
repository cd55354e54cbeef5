"""Jobs that a device may hold: serving or training a model in one of several ways.

What a job needs does not depend on the device: it is worked out once and held against many.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, Protocol, Self

from core.budget.item import Item
from core.budget.serving.inference_budget import with_context
from core.budget.serving.serving_memory import serving_memory
from core.budget.serving.serving_plan import ServingPlan
from core.models.spec import ModelSpec

Size = Literal["sequences", "tokens"]


class Job(Protocol):
    """What the matrix and the solver ask of a job."""

    def need(self, spec: ModelSpec) -> Item:
        """Return the bytes of the most loaded device; ValueError if the model cannot be split."""

    def on(self, num_devices: int) -> Self:
        """Return the job spread over that many devices."""

    def sized(self, size: Size, amount: int) -> Self:
        """Return the job with that many sequences at once, or tokens in each."""


@dataclass(frozen=True, slots=True)
class Serving:
    """Serving by a plan; a context beyond the model's own is cut to it."""

    plan: ServingPlan

    def need(self, spec: ModelSpec) -> Item:
        """Return weights, KV cache and work space on one device."""
        plan = self.plan
        if plan.context > spec.seq_len:
            plan = with_context(plan, spec.seq_len)
        return serving_memory(spec, plan)

    def on(self, num_devices: int) -> Self:
        """Return the plan with every matrix shared by that many devices."""
        return type(self)(replace(self.plan, tensor=num_devices))

    def sized(self, size: Size, amount: int) -> Self:
        """Return the plan with other sequences."""
        if size == "sequences":
            return type(self)(replace(self.plan, concurrency=amount))
        return type(self)(with_context(self.plan, amount))


SERVING_FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fp32": "float32",
        "bf16": "bfloat16",
        "fp8": "fp8_block128",
        "int8": "int8_channel",
        "int4": "int4_group128",
        "nf4": "nf4_double_quant",
    }
)
"""Short name -> how the matrices are stored: a name of `core.dtypes`."""


def serving_ways(plan: ServingPlan) -> Mapping[str, Serving]:
    """Return the plan in every format of the weights."""
    return {way: Serving(replace(plan, weight_format=fmt)) for way, fmt in SERVING_FORMATS.items()}
