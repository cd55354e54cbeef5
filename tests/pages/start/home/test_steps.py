"""The pictures of Home are drawn from what core computes, not from numbers that somebody typed."""

import math
import struct
import xml.etree.ElementTree as ET

import pytest
import torch

from benchmarks.record_home_pictures import TEXT, record
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from pages.start.home.steps import HEIGHT, STEPS_FILE, WIDTH, drawn, load_steps

SVG = "{http://www.w3.org/2000/svg}"
MAX_BYTES = 400_000
each_picture = pytest.mark.parametrize("name", sorted(load_steps()))


def parsed(name, mode="light"):
    return ET.fromstring(drawn(name, Look(mode=mode)))  # noqa: S314  our own


def rects(name):
    return [
        {
            **{key: float(each.get(key)) for key in ("x", "y", "width", "height")},
            "fill": each.get("style"),
        }
        for each in parsed(name).iter(f"{SVG}rect")
    ]


def test_the_numbers_that_are_kept_are_those_that_core_computes_now():
    """Of the trained model to a thousandth: the order of its sums differs between processors."""
    now, kept = record(), load_steps()

    assert now.keys() == kept.keys()
    for name in kept.keys() - {"next_token"}:
        assert now[name] == kept[name], name
    new, old = now["next_token"], kept["next_token"]
    assert (new["tokens"], new["candidates"]) == (old["tokens"], old["candidates"])
    for numbers in ("attention", "chances"):
        assert new[numbers] == pytest.approx(old[numbers], abs=1e-3)
    assert STEPS_FILE.stat().st_size < MAX_BYTES


def test_the_kept_numbers_agree_with_struct_torch_and_arithmetic():
    kept = load_steps()

    bits = {row["format"]: row["bits"] for row in kept["bits"]["rows"]}
    assert bits["float32"] == f"{struct.unpack('>I', struct.pack('>f', math.pi))[0]:032b}"
    assert bits["float16"] == f"{struct.unpack('>H', struct.pack('>e', math.pi))[0]:016b}"
    x = torch.arange(16).reshape(4, 4)
    assert kept["place"]["addresses"] == x.t().tolist()
    w, b = torch.tensor(2.0, requires_grad=True), torch.tensor(1.0)
    ((w * 3 + b) ** 2).backward()
    assert kept["graph"]["gradient"] == w.grad.item()
    assert sum(kept["next_token"]["attention"]) == pytest.approx(1, abs=0.01)
    assert TEXT.endswith("".join(kept["next_token"]["tokens"]))
    assert sum(amount for _name, amount in kept["memory"]["parts"]) == kept["memory"]["total"]


@each_picture
@pytest.mark.parametrize("mode", MODES)
def test_a_picture_is_small_whole_and_in_the_colours_of_the_theme(name, mode):
    root, text = parsed(name, mode), drawn(name, Look(mode=mode))

    assert root.get("viewBox") == f"0 0 {WIDTH} {HEIGHT}"
    assert len(text) < 15_000
    others = set(COLORS[MODES[1 - MODES.index(mode)]].values()) - set(COLORS[mode].values())
    assert [color for color in others if color in text] == []
    for each in rects(name):
        if name != "graph":  # that one is scaled as a whole
            assert -0.01 <= each["x"] <= each["x"] + each["width"] <= WIDTH + 0.01
            assert -0.01 <= each["y"] <= each["y"] + each["height"] <= HEIGHT + 0.01


def test_a_cell_is_full_where_the_bit_is_one():
    rows = load_steps()["bits"]["rows"]
    pale = ["color-mix" in each["fill"] for each in rects("bits")]

    assert pale == [bit == "0" for row in rows for bit in row["bits"]]
