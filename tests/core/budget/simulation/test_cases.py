"""What travels to the process that simulates, and what is refused before it starts."""

from dataclasses import replace

import pytest

from core.budget.recipe import LoRA
from core.budget.simulation.cases import check_case, read_case, run_simulation, write_case
from core.budget.simulation.step import simulate_step
from core.budget.simulation.timeline import StepReport, write_report
from core.models.spec import LatentAttention, Mixture
from tests.core.budget.refusals import refused
from tests.core.budget.simulation.test_prepared import LLAMA, recipe

EXPERTS = replace(LLAMA, mixture=Mixture(num_experts=4, experts_per_token=2, expert_dim=64))


def test_what_is_written_is_read():
    latent = LatentAttention(query_rank=32, kv_rank=16, nope_dim=16, rope_dim=8, value_dim=16)
    for case in (
        (LLAMA, recipe(lora=LoRA(targets=("q", "up")))),
        (replace(EXPERTS, latent=latent), recipe()),
    ):
        assert read_case(write_case(*case)) == case


def test_what_cannot_be_simulated_is_a_sentence():
    for call in (check_case, simulate_step, run_simulation):
        refused("FSDP2 shares its weights out over", call, LLAMA, recipe(precision="fsdp2"))
        refused("fp32 moments for bf16 weights", call, LLAMA, recipe(precision="cs336_12"))
        refused("frozen weights of LoRA in 16 bits", call, LLAMA, recipe(lora=LoRA()))
        refused("no autocast for experts", call, EXPERTS, recipe(precision="autocast_bf16"))
        refused("profile is 'mine'; use one of", call, LLAMA, recipe(profile="mine"))


REPORT = StepReport(
    base={"weights": 8}, points=(), peak=10, peak_place=0, holdings=(), num_events=1,
    forward_bytes=1, seconds=0.1,
)  # fmt: skip


def test_progress_is_told_and_the_last_line_is_the_report(monkeypatch: pytest.MonkeyPatch):
    asked = []

    def lines(module, arguments, *, seconds):
        asked.append((module, *arguments))
        yield "forward\tblocks.0"
        yield "backward\t"
        yield write_report(REPORT)

    monkeypatch.setattr("core.budget.simulation.cases.lines_of", lines)
    told = []
    found = run_simulation(LLAMA, recipe(), lambda *place: told.append(place))
    assert found == REPORT
    assert told == [("forward", "blocks.0"), ("backward", "")]
    assert asked == [("core.budget.simulation", write_case(LLAMA, recipe()))]
