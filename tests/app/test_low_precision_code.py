"""What a lab's "Show the code" prints is what core computes, and it needs torch or numpy alone."""

import itertools

import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs.accumulate import ORDERS
from core.dtypes.labs.loss_scale import loss_scale_bands
from pages.dtypes.low_precision_training import (
    loss_scale,
    softmax,
    sums,
    updates,
)
from pages.dtypes.low_precision_training.inputs import FORMAT_NAMES, cast_code


@pytest.fixture
def printed(capsys):
    """Return printed(code): what it prints; what imports core is refused."""

    def run(code):
        assert "core" not in code
        exec(compile(code, "snippet", "exec"), {})  # noqa: S102  what a reader copies
        return capsys.readouterr().out.strip()

    return run


@pytest.mark.parametrize("order", ORDERS)
def test_sums(printed, order):
    for term, count in ((1.0, 1000), (0.1, 300), (0.03, 20), (5.0, 500)):
        for total in sums.computed(term, count, order, "nearest_even"):
            asked = sums.Asked(
                name=total.format, term=term, count=count, order=order, rounding="nearest_even"
            )
            found = float(printed(sums.code_of(asked)))
            assert np.array_equal(found, total.result, equal_nan=True), (term, count, total.format)


def test_one_weight_and_many(printed):
    for update, name in itertools.product((0.0003, 0.005, 0.02), updates.NAMES):
        ways = updates.one_weight(update, 300, name)
        many = updates.many_weights(update, 300, name, 20)
        expected = {way: ways[way].stored[-1] for way in ("nearest", "master")}
        expected["stochastic"] = pytest.approx(many.mean[-1])
        for way, weight in expected.items():
            asked = updates.Asked(name=name, way=way, update=update, steps=300, count=20)
            assert float(printed(updates.code_of(asked)).split()[0]) == weight, asked


def test_softmax(printed):
    for name, largest in itertools.product(FORMAT_NAMES, (-20.0, 5.0, 11.0, 11.1, 90.0)):
        logits = tuple(largest - below for below in softmax.BELOW)
        lines = printed(softmax.CODE.format(logits=logits, cast=cast_code(name, "double")))
        for line, way in zip(lines.splitlines(), softmax.computed(logits, name), strict=True):
            assert line.startswith(f"{way.exponentials[0]:.5g}, sum {way.total:.5g}: "), name
            assert line.endswith(f" {100 * way.probabilities[0]:.3g} %"), (name, largest)


def test_the_bands_of_a_loss_scale(printed):
    for name, power in itertools.product(FORMAT_NAMES, (0, 8, 16, 32)):
        gradients = loss_scale.made_up()
        asked = loss_scale.Asked(name=name, power=power, source="synthetic", gradients=gradients)
        bands = loss_scale_bands(gradients.histogram, FORMATS[name], 2.0**power)
        shares = [f"{100 * bands.shares[place]:.3g} %" for place in (2, 1, 0, 3)]
        assert printed(loss_scale.code_of(asked)).splitlines()[:4] == shares, (name, power)


def test_the_scaler_of_torch_takes_the_same_steps(printed):
    for first, interval, spike in ((3.0, 5, 40), (30.0, 2000, 0), (0.02, 3, 40)):
        steps = loss_scale.scaler_steps(first, interval, spike)
        for number in (1, 7, 41, 60):
            asked = loss_scale.AskedScaler(step=number, first=first, interval=interval, spike=spike)
            step = steps[number - 1]
            product = f"{step.peak * step.scale:.5g}"
            line = f"{number} {step.peak:.3g} {step.scale} {product} {step.next_scale}"
            assert printed(loss_scale.scaler_code(asked)) == line
