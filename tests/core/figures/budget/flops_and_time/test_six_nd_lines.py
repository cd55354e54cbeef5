from core.budget.catalogue.models import MODELS
from core.budget.compute.conventions import CONTEXTS, six_nd_ratio
from core.figures.budget.flops_and_time.six_nd_lines import (
    Curve,
    six_nd_alt,
    six_nd_lines,
    six_nd_table,
)


def curve(key):
    causal, full = (
        [six_nd_ratio(MODELS[key], context, causal=each).amount for context in CONTEXTS]
        for each in (True, False)
    )
    return Curve(name=MODELS[key].name, causal=causal, full=full)


CURVES = [curve("llama-2-7b"), curve("gpt2")]


def test_lines_are_the_ratios_over_the_context():
    figure = six_nd_lines(CONTEXTS, CURVES, 4, "light")
    lines = {trace.name: list(trace.y) for trace in figure.data}
    assert lines["Llama-2 7B, causal"] == CURVES[0].causal
    assert lines["Llama-2 7B, full attention"] == CURVES[0].full
    assert lines["GPT-2"] == CURVES[1].causal
    assert lines["the rule 6ND"] == [1, 1]
    marked = figure.data[-1]
    assert list(marked.x) == [CONTEXTS[4]] * 2


def test_words_and_table_hold_the_marked_context():
    assert "at 4,096 tokens: Llama-2 7B 1.060 causal and 1.140 full" in six_nd_alt(
        CONTEXTS, CURVES, 4
    )
    table = six_nd_table(CONTEXTS, CURVES)
    assert table["context"][4] == "4,096"
    assert len(table) == 5
    assert {len(column) for column in table.values()} == {len(CONTEXTS)}
