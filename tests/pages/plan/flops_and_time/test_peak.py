import pytest

from core.budget.catalogue.devices import DEVICES, custom_device
from core.budget.catalogue.models import MODELS
from core.budget.compute.block_operations import op_intensities
from core.budget.compute.conventions import mfu_conventions
from core.budget.compute.intensity import bound, examples
from core.budget.recipe import TrainingRecipe
from core.figures.picture import Look
from pages.plan.flops_and_time.mfu import mfu_picture
from pages.plan.flops_and_time.roofline import roofline_picture

H100 = DEVICES["h100-sxm"]
PEAK = H100.peak["bfloat16"]


def shares(speed):
    return mfu_conventions(MODELS["llama-3.1-8b"], TrainingRecipe(seq_len=8192), speed, 989e12)


def test_bars_are_shares_of_the_peak_and_what_cannot_be_is_crossed():
    for speed in (5762, 50_000):
        found = shares(speed)
        figure = mfu_picture(found, Look()).figure
        assert list(figure.data[0].x) == [share.amount for share in found]
        crossed = [note.text.endswith("✗") for note in figure.layout.annotations]
        assert any(crossed) == (speed == 50_000)
        assert figure.layout.xaxis.range[1] > max(share.amount for share in found)


def test_marks_stand_on_the_roof_at_their_intensity():
    operations = examples(4096)
    figure = roofline_picture(operations, H100, PEAK, Look()).figure
    marks = {
        x: y for trace in figure.data if trace.mode == "markers"
        for x, y in zip(trace.x, trace.y, strict=True)
    }  # fmt: skip
    for operation in operations:
        share = bound(operation, PEAK, H100.bandwidth).amount
        assert marks[operation.intensity.amount] == pytest.approx(PEAK * share)
    roof = figure.data[0]
    assert list(roof.y[1:]) == [PEAK, PEAK]
    assert roof.x[1] == pytest.approx(PEAK / H100.bandwidth)


def test_every_model_and_phase_can_be_drawn_and_every_mark_has_a_name():
    for spec in MODELS.values():
        for phase in ("prefill", "decode"):
            operations = op_intensities(spec, 4096, phase=phase)
            look = Look(mode="dark", present=True)
            figure = roofline_picture(operations, H100, PEAK, look).figure
            num_marks = sum(len(t.x) for t in figure.data if t.mode == "markers")
            assert num_marks == len(operations)


def test_a_roof_of_tiny_or_huge_numbers_and_every_mark_stay_on_the_picture():
    for tera, giga in ((1, 100_000), (100_000, 1), (100, 1000)):
        device = custom_device(memory=1e9, flops_per_second=tera * 1e12, bandwidth=giga * 1e9)
        for operations in (examples(64), op_intensities(MODELS["gpt-3-175b"], 2**20)):
            figure = roofline_picture(operations, device, device.peak["bfloat16"], Look()).figure
            left, right = (10**end for end in figure.layout.xaxis.range)
            roof = figure.data[0]
            assert list(roof.x) == sorted(roof.x)
            assert left < roof.x[1] < right
            assert all(left < each.intensity.amount < right for each in operations)
