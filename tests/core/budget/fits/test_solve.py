"""The solver against counting up, on real plans and on made-up needs."""

from dataclasses import dataclass, replace

import numpy as np

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.fits.jobs import Job, Serving, serving_ways
from core.budget.fits.solve import (
    by_length,
    edges,
    group_needs,
    largest_model,
    largest_number,
    largest_that_fits,
    lengths,
    min_devices,
)
from core.budget.item import total
from core.budget.serving.memory import largest_concurrency
from core.budget.serving.plan import ServingPlan
from core.budget.weights.parameters import counts
from tests.core.budget.fits.test_matrix import bytes_of


@dataclass(frozen=True)
class Steps(Job):
    """A job of `base` bytes, `each` a sequence, shared by its devices; 3 devices cannot share."""

    base: int
    each: int
    sequences: int = 1
    devices: int = 1

    def need(self, _spec):
        if self.devices == 4:
            raise ValueError("4 devices cannot share this")
        base = bytes_of("base", self.base // self.devices)
        return total("job", [base, bytes_of("grown", self.each * self.sequences)], source="test")

    def on(self, num_devices):
        return replace(self, devices=num_devices)

    def sized(self, _size, amount):
        return replace(self, sequences=amount)


def device_of(memory):
    return replace(DEVICES["h100-sxm"], memory_usable=memory)


def test_the_largest_number_is_the_one_found_by_counting_up():
    rng = np.random.default_rng(0)
    for most in (1, 2, 3, 10, 1000):
        for _ in range(50):
            edge = int(rng.integers(0, most + 3))
            assert largest_number(lambda n, edge=edge: n <= edge, most) == min(edge, most), edge


def test_sequences_fill_the_memory_and_the_next_one_fails():
    rng = np.random.default_rng(1)
    for _ in range(200):
        job = Steps(base=int(rng.integers(1, 1000)), each=int(rng.integers(1, 50)))
        memory = int(rng.integers(1, 2000))
        answer = largest_that_fits(None, job, device_of(memory), "sequences")
        expected = max(0, (memory - job.base) // job.each)
        assert answer.amount == expected, (job, memory)
        assert answer.reason == ("base" if job.base > memory else "grown"), (job, memory)
        assert (answer.need is None) == (expected == 0)
        assert not answer.at_limit


def test_the_longest_sequence_ends_at_the_models_own_context():
    job = Serving(ServingPlan(concurrency=1))
    answer = largest_that_fits(MODELS["gpt2"], job, DEVICES["h100-sxm"], "tokens")
    assert (answer.amount, answer.at_limit) == (1024, True)


def test_concurrency_agrees_with_the_serving_rooms_own_search():
    plan = ServingPlan(prompt_len=1024, output_len=256)
    cluster = Cluster(device=DEVICES["a100-80gb"])
    for key in ("llama-2-7b", "llama-2-13b", "mistral-7b-v0.1", "gemma-2-9b", "llama-2-70b"):
        answer = largest_that_fits(MODELS[key], Serving(plan), DEVICES["a100-80gb"], "sequences")
        assert answer.amount == largest_concurrency(MODELS[key], plan, cluster), key


def test_fewest_devices_pass_over_numbers_that_cannot_share():
    job = Steps(base=80, each=0)
    for memory, number in ((80, 1), (40, 2), (20, 8), (10, 8), (5, 16)):
        assert min_devices(None, job, device_of(memory)).amount == number, memory


def test_no_number_of_devices_helps_what_is_not_shared():
    answer = min_devices(None, Steps(base=1, each=100), device_of(50), most=64)
    assert (answer.amount, answer.reason, answer.need) == (0, "grown", None)


def test_70b_in_bf16_needs_two_of_80_gb_and_one_of_141():
    """Corrections, E11: not four. gpt-fast serves it on two."""
    job = Serving(ServingPlan(prompt_len=512, output_len=128))
    spec = MODELS["llama-2-70b"]
    assert min_devices(spec, job, DEVICES["a100-80gb"]).amount == 2
    assert min_devices(spec, job, DEVICES["h200-sxm"]).amount == 1
    assert min_devices(spec, job, DEVICES["rtx-4090"]).amount == 8


def test_groups_are_those_that_can_share_the_heads():
    numbers = [number for number, _ in group_needs(MODELS["gpt2-xl"], Serving(ServingPlan()), 64)]
    assert numbers == [1]  # 25 heads


def test_the_largest_model_that_fits_is_larger_than_all_others_that_do():
    job = serving_ways(ServingPlan())["int4"]
    key, need = largest_model(MODELS, job, DEVICES["rtx-4090"])

    assert need.amount <= DEVICES["rtx-4090"].memory_usable
    for other, spec in MODELS.items():
        if job.need(spec).amount <= DEVICES["rtx-4090"].memory_usable:
            assert counts(spec).total <= counts(MODELS[key]).total, other


def test_no_model_fits_on_a_device_without_memory():
    job = Serving(ServingPlan())
    assert largest_model(MODELS, job, device_of(1)) is None
    assert largest_model(MODELS, job.on(1024), DEVICES["h100-sxm"]) is None


JOB = Serving(ServingPlan())


def test_a_point_on_the_edge_fits_and_one_sequence_more_does_not():
    spec, device = MODELS["llama-3.1-8b"], DEVICES["rtx-4090"]
    for edge in edges(spec, JOB, device, (1, 2)):
        spread = JOB.on(edge.num_devices)
        for tokens, most in by_length(edge).items():
            job = spread.sized("tokens", tokens)
            here, beyond = (job.sized("sequences", n).need(spec).amount for n in (most, most + 1))
            assert here <= device.memory_usable < beyond, (edge.num_devices, tokens)


def test_longer_sequences_are_never_more():
    (edge,) = edges(MODELS["llama-2-7b"], JOB, DEVICES["h100-sxm"], (1,))
    assert list(edge.sequences) == sorted(edge.sequences, reverse=True)
    assert edge.tokens[-1] == 4096


def test_more_devices_than_a_plan_may_have_have_no_edge():
    found = edges(MODELS["llama-2-13b"], Serving(ServingPlan()), DEVICES["h100-sxm"], (1, 2048))
    assert [edge.num_devices for edge in found] == [1]


def test_lengths_end_at_the_models_own_context():
    for key, spec in MODELS.items():
        assert lengths(spec)[-1] == spec.seq_len, key
