from dataclasses import replace

from core.budget.recipe import LoRA
from core.budget.simulation.report import (
    NUM_POINTS,
    read_case,
    read_report,
    report_of,
    write_case,
    write_report,
)
from core.budget.simulation.step import simulate_step
from core.models.spec import LatentAttention, Mixture
from tests.core.budget.simulation.tiny import LLAMA, recipe


def test_a_report_keeps_the_peak_and_adds_up():
    timeline = simulate_step(replace(LLAMA, num_layers=12), recipe())
    report = report_of(timeline, 0.5)
    assert len(report.points) <= NUM_POINTS + 3 < len(timeline.events)
    point = report.peak_point
    assert report.peak == timeline.peak
    assert report.peak == report.persistent + point.saved + point.gradients + point.temporary
    assert [each.place for each in report.points] == sorted({e.place for e in report.points})
    assert sum(row.num_bytes for row in report.holdings) <= report.peak - report.persistent
    assert report.forward_bytes == timeline.forward_bytes


def test_what_is_written_is_read():
    report = report_of(simulate_step(LLAMA, recipe()), 0.5)
    assert read_report(write_report(report)) == report
    mixture = Mixture(num_experts=4, experts_per_token=2, expert_dim=64)
    latent = LatentAttention(query_rank=32, kv_rank=16, nope_dim=16, rope_dim=8, value_dim=16)
    for case in (
        (LLAMA, recipe(lora=LoRA(targets=("q", "up")))),
        (replace(LLAMA, mixture=mixture, latent=latent), recipe()),
    ):
        assert read_case(write_case(*case)) == case
