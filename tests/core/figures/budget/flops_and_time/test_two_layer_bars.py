import pytest

from core.budget.by_hand.rules import two_layer_flops
from core.figures.budget.flops_and_time.two_layer_bars import (
    two_layer_alt,
    two_layer_bars,
    two_layer_table,
)


@pytest.mark.parametrize("needed", [True, False])
def test_every_product_is_a_bar(needed):
    step = two_layer_flops(1024, 256, 64, input_needs_gradient=needed)
    figure = two_layer_bars(step, "light")
    assert sum(sum(trace.x) for trace in figure.data) == step.amount
    assert len(figure.data[1].x) == 3 + needed
    assert figure.data[0].name == "forward · 168 MFLOPs"


def test_words_and_table():
    step = two_layer_flops(1024, 256, 64, input_needs_gradient=False)
    assert "h = x @ w1 134 MFLOPs" in two_layer_alt(step)
    table = two_layer_table(step)
    assert table["FLOPs"] == ["134,217,728", *["33,554,432"] * 3, "134,217,728"]
