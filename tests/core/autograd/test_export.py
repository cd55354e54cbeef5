"""A capture comes back from JSON as it was, also where numbers are not finite."""

import json
import math

import pytest
import torch

from core.autograd.built_graphs import BUILT_GRAPHS, capture_built
from core.autograd.capture import capture
from core.autograd.graph import Capture, from_json, to_json
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program


@pytest.mark.parametrize("key", [key for key in PRESETS if key != "nan_trap"])
def test_an_example_comes_back_as_it_was(key):
    found = capture_program(PRESETS[key].source, PRESETS[key].tensors())
    assert from_json(to_json(found)) == found


@pytest.mark.parametrize("key", BUILT_GRAPHS)
def test_a_built_graph_comes_back_as_it_was(key):
    found = capture_built(BUILT_GRAPHS[key], BUILT_GRAPHS[key].low)
    assert from_json(to_json(found)) == found


def test_nan_and_infinity_come_back_and_the_text_is_json_everywhere():
    leaf = torch.tensor([-1.0, 0.0, 4.0, math.inf], requires_grad=True)
    found = capture(lambda x: (x.sqrt() * x).sum(), {"x": leaf})

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    text = to_json(found)
    json.loads(text, parse_constant=refuse)
    back = from_json(text)
    assert repr(back) == repr(found), "NaN differs from itself, its text does not"
    values = back.leaves["x"].value.values
    assert values == (-1.0, 0.0, 4.0, math.inf)
    assert math.isnan(back.leaves["x"].grad.values[0])


def test_what_is_no_capture_is_refused():
    node = to_json(Capture()).replace('"nodes": []', '"nodes": [3]')
    for text in ("{}", "[]", '"text"', "3", '{"nodes": [{}]}', node, "nodes"):
        with pytest.raises(
            ValueError, match="this is no capture" if text != "nodes" else "Expecting"
        ):
            from_json(text)
