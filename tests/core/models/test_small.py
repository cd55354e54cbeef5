"""Small modules: counts as printed in textbooks, and a loss that cannot fall."""

import math

import pytest

from core.models.describe import describe
from core.models.small import CLASSES, SMALL, losses_on_random_labels, make, output_shape

COUNTS = {
    "linear": 10 * 5 + 5,
    "cruncher": 64 * 64 + 64 * 64 + 64,
    "mlp": 784 * 256 + 256 + 256 * 10 + 10,
    "gelu_mlp": 768 * 3072 + 3072 + 3072 * 768 + 768,
    "encoder": 4 * (64 * 64 + 64) + 64 * 256 + 256 + 256 * 64 + 64 + 4 * 64,
    "classifier": 50 * 256 + 256 + 2 * 256 + 256 * 128 + 128 + 128 * 3 + 3,
}
SHAPES = {
    "linear": (4, 5), "cruncher": (8,), "mlp": (32, 10), "gelu_mlp": (2, 16, 768),
    "encoder": (2, 16, 64), "classifier": (32, 3),
}  # fmt: skip


@pytest.mark.parametrize("key", SMALL)
def test_counts_and_shapes_are_those_of_the_layers_by_hand(key):
    assert describe(make(key)).num_params == COUNTS[key]
    assert output_shape(key) == SHAPES[key]


def test_the_printed_counts_are_these():
    assert [COUNTS[key] for key in ("linear", "cruncher", "mlp", "classifier")] == [
        55, 8256, 203_530, 46_851
    ]  # fmt: skip


def test_on_random_labels_the_loss_stays_at_ln_3():
    losses = losses_on_random_labels(60)
    floor = math.log(CLASSES)
    assert floor == pytest.approx(1.0986, abs=1e-4)
    late = losses[-30:]
    assert sum(late) / len(late) == pytest.approx(floor, abs=0.06)
    assert min(losses) > floor - 0.1
