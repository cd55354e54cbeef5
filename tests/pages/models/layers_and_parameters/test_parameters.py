"""The icicle: as wide as torch's counts, its parts colored, its letters readable."""

import pytest

from core.budget.catalogue.models import MODELS
from core.figures.picture import Look
from core.models.chosen import tree_of
from core.models.describe import PARTS, by_part, unfold
from core.models.gpt import GPT
from core.models.spec import GPTShape
from core.units import format_exact
from pages.models.layers_and_parameters.inputs import PART_TITLES, part_color
from pages.models.layers_and_parameters.parameters import icicle_picture, shares
from tests.core.figures.test_theme import contrast

SHAPE = GPTShape(num_layers=3, hidden_dim=32, num_heads=4, vocab_size=65, seq_len=16)
KEYS = ("llama-3.1-70b", "deepseek-v3.2", "llama-4-maverick", "gpt-oss-120b")


@pytest.fixture
def trace():
    return icicle_picture("GPT", tree_of(SHAPE), Look()).figure.data[0]


def test_rectangles_are_as_wide_as_torch_counts_their_modules(trace):
    model = GPT(SHAPE)
    widths = dict(zip(trace.ids, trace.values, strict=True))
    assert widths["GPT"] == sum(each.numel() for each in model.parameters())
    assert widths["tokens.weight"] == model.tokens.weight.numel()
    assert widths["blocks.0–2"] == sum(each.numel() for each in model.blocks.parameters())
    assert trace.branchvalues == "total"


@pytest.mark.parametrize("key", KEYS)
def test_what_lies_below_a_rectangle_fills_it_and_every_name_is_unique(key):
    for tree in (tree_of(MODELS[key]), unfold(tree_of(MODELS[key]))):
        trace = icicle_picture(key, tree, Look()).figure.data[0]
        assert len(set(trace.ids)) == len(trace.ids)
        below = dict.fromkeys(trace.parents, 0)
        for above, value in zip(trace.parents, trace.values, strict=True):
            below[above] += value
        widths = dict(zip(trace.ids, trace.values, strict=True))
        assert all(widths[name] == below[name] for name in below if name), key
        assert below[""] == tree.num_params


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("key", ["llama-3.1-70b", "deepseek-v3.2", "llama-4-maverick"])
def test_letters_have_a_contrast_of_4_5_on_every_rectangle(mode, key):
    trace = icicle_picture(key, tree_of(MODELS[key]), Look(mode=mode)).figure.data[0]
    for ink, ground in zip(trace.textfont.color, trace.marker.colors, strict=True):
        assert contrast(ink, ground) >= 4.5, (ink, ground)


def test_every_part_has_a_title_and_a_color_of_its_own():
    assert list(PART_TITLES) == list(PARTS)
    assert len({part_color(part, Look()) for part in PARTS}) == len(PARTS)


def test_the_sentence_says_the_count_and_the_table_every_tensor():
    picture = icicle_picture("GPT", tree_of(SHAPE), Look())
    count = sum(each.numel() for each in GPT(SHAPE).parameters())
    assert format_exact(count) in picture.alt
    names = {name for name, _tensor in GPT(SHAPE).state_dict().items() if "blocks" not in name}
    assert names <= set(picture.table["name"])
    assert picture.table["tied to"][picture.table["name"].index("head.weight")] == "tokens.weight"


def test_parts_come_large_first_and_those_under_a_thousandth_only_in_the_sentence():
    tree = tree_of(MODELS["gpt2"])
    parts = by_part(tree)
    large = sorted((part for part in parts if parts[part] * 1000 >= tree.num_params),
                   key=lambda part: -parts[part])  # fmt: skip
    assert set(parts) - set(large) == {"norms"}
    said = [each.rpartition(" %")[0].rpartition(" ")[0] for each in shares(tree).split(", ")]
    assert said == [PART_TITLES[part] for part in large]
    assert PART_TITLES["norms"] in icicle_picture("GPT-2", tree, Look()).alt
