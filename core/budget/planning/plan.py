"""The plan: one model, one job, and the devices it runs on; every page of Sizing looks at it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from core.budget.budget import Verdict, verdict_of
from core.budget.check import check_choice, check_range
from core.budget.cluster import Cluster
from core.budget.item import Item
from core.budget.recipe import MAX_TOKENS, TrainingRecipe
from core.budget.serving.memory import serving_memory
from core.budget.serving.plan import ServingPlan, with_context
from core.budget.training.memory import training_budget
from core.models.spec import ModelSpec

Work = Literal["train", "serve"]
WORKS: Final[tuple[Work, ...]] = ("train", "serve")
MOST_DEVICES: Final = 4096
MOST_PASSES: Final = 1_000_000  # of a recipe
STEP_TOKENS: Final = 3 * 2**19  # 192 sequences of 8,192 tokens: 8, 16, 24, 32 and 64 share them


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What is to be done, and on what.

    Attributes:
        spec: The model.
        cluster: The devices, and how a training is spread over them.
        work: Whether the model is trained or served.
        recipe: How it is trained. Its `accumulation` is not heeded: `step_tokens` decides it.
        serving: How it is served. Its `tensor` is not heeded: all devices share each matrix.
        step_tokens: Tokens of one optimizer step, over all devices: the global batch.
        num_tokens: Tokens of the training.
        price_per_hour: Of one device, in USD; 0 if it is not known.
        mfu: The share of the peak that the training is to reach; 0 to have it computed.
    """

    spec: ModelSpec
    cluster: Cluster
    work: Work = "train"
    recipe: TrainingRecipe = field(default_factory=TrainingRecipe)
    serving: ServingPlan = field(default_factory=ServingPlan)
    step_tokens: int = STEP_TOKENS
    num_tokens: float = 1e9
    price_per_hour: float = 0.0
    mfu: float = 0.0

    def __post_init__(self) -> None:
        check_choice("work", self.work, WORKS)
        check_range("step_tokens", self.step_tokens, 1, MAX_TOKENS)
        check_range("num_tokens", self.num_tokens, 1, 1e20)
        check_range("mfu", self.mfu, 0, 1)

    @property
    def num_devices(self) -> int:
        """How many devices there are."""
        return self.cluster.num_devices

    @property
    def pass_tokens(self) -> int:
        """Tokens of one forward pass over all replicas."""
        return self.cluster.data * self.recipe.num_tokens

    @property
    def shares_batch(self) -> bool:
        """Whether a step is a whole number of forward passes: else the last one is rounded up."""
        return self.step_tokens % self.pass_tokens == 0

    @property
    def accumulated(self) -> TrainingRecipe:
        """The recipe with as many micro-batches as a step has."""
        passes = -(-self.step_tokens // self.pass_tokens)
        return replace(self.recipe, accumulation=min(max(1, passes), MOST_PASSES))

    @property
    def need(self) -> Item:
        """The bytes of the most loaded device.

        Raises:
            ValueError: If the model cannot be split this way; the sentence says why.
        """
        if self.work == "train":
            return training_budget(self.spec, self.accumulated, self.cluster).largest
        serving = replace(self.serving, tensor=self.num_devices)
        if serving.context > self.spec.seq_len:
            serving = with_context(serving, self.spec.seq_len)
        return serving_memory(self.spec, serving)

    @property
    def verdict(self) -> Verdict:
        """Whether it fits, whatever the truth within the bands.

        Raises:
            ValueError: As `need`.
        """
        return self.held_against(self.need)

    def held_against(self, need: Item) -> Verdict:
        """Return whether what is needed fits on one of the devices."""
        device = self.cluster.device
        return verdict_of(need, device.memory_usable, device.memory_band)

    def on(self, num_devices: int) -> "Plan":
        """Return the plan on so many devices: the data-parallel size follows.

        Serving shares the model over all of them, however training splits it.

        Raises:
            ValueError: If they cannot be split as the plan asks.
        """
        cluster = self.cluster
        if self.work == "serve":
            cluster = replace(
                cluster, tensor=1, pipeline=1, virtual_stages=1, context=1, expert=1,
                sequence_parallel=False,
            )  # fmt: skip
        return replace(self, cluster=replace(cluster, num_devices=num_devices))


def possible_counts(plan: Plan, most: int = MOST_DEVICES) -> Iterator[int]:
    """Yield the numbers of devices that a plan may have, the fewest first.

    Within a node any number that divides it, beyond it whole nodes. Training keeps its tensor,
    pipeline and context sizes and its global batch, which the replicas must share without a rest.
    """
    node = plan.cluster.devices_per_node
    step = plan.cluster.group_size if plan.work == "train" else 1
    for number in range(step, most + 1, step):
        passes = number // plan.cluster.ranks_of_a_replica * plan.recipe.num_tokens
        shares_batch = plan.work == "serve" or plan.step_tokens % passes == 0
        if shares_batch and (node % number == 0 or number % node == 0):
            yield number


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """A plan on one number of devices.

    Attributes:
        plan: The plan there.
        need: The bytes of the most loaded device.
        verdict: Whether it fits.
    """

    plan: Plan
    need: Item
    verdict: Verdict

    @property
    def num_devices(self) -> int:
        """How many devices."""
        return self.plan.num_devices


@dataclass(frozen=True, kw_only=True, slots=True)
class Fewest:
    """How many devices a plan needs at least.

    Attributes:
        fits: The smallest number on which it fits; None if it does on none that is valid.
        borderline: The smallest one below that on which it may fit; None if there is none.
        largest: The largest number that was tried; None if not one is valid.
    """

    fits: Count | None
    borderline: Count | None
    largest: Count | None


def on_count(plan: Plan, num_devices: int) -> Count:
    """Return the plan on so many devices, and whether it fits.

    Raises:
        ValueError: If it cannot be split so.
    """
    here = plan.on(num_devices)
    need = here.need
    return Count(plan=here, need=need, verdict=here.held_against(need))


def counts(plan: Plan, numbers: Iterable[int]) -> Iterator[Count]:
    """Yield a plan on each of these numbers of devices that the model can be split over.

    Experts need as many data ranks as they are spread over, serving heads that can be shared.
    """
    for number in numbers:
        with suppress(ValueError):
            yield on_count(plan, number)


def fewest_devices(plan: Plan, most: int = MOST_DEVICES) -> Fewest:
    """Return the fewest devices on which a plan fits, by its own sharding and global batch.

    What is borderline comes before: a number from which on it may fit.
    """
    borderline: Count | None = None
    tried: Count | None = None
    for tried in counts(plan, possible_counts(plan, most)):
        if tried.verdict == "fits":
            return Fewest(fits=tried, borderline=borderline, largest=tried)
        if tried.verdict == "close" and borderline is None:
            borderline = tried
    return Fewest(fits=None, borderline=borderline, largest=tried)


def counts_around(plan: Plan, fewest: Fewest) -> tuple[Count, ...]:
    """Return the numbers that show what the number of devices does.

    The plan's own, the borderline and the fewest one; half of the own and twice the fewest, where
    these are valid.
    """
    own = plan.num_devices
    named = {each.num_devices for each in (fewest.fits, fewest.borderline) if each is not None}
    around = named | {own // 2, 2 * max(own, *named, 0)}
    possible = around & set(possible_counts(plan))
    return tuple(counts(plan, sorted(possible | {own})))
