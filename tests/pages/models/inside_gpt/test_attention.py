import re

import pytest

from core.figures.picture import Look
from core.models.one_head import one_head
from core.models.walk import walk
from core.tensors.masks import MaskSpec, run_mask
from pages.models.inside_gpt.attention import head_picture, mask_conventions_picture
from tests.core.models.small_models import small_model, some_ids

PIECES = tuple("abcdefg")


@pytest.fixture(scope="module")
def one():
    return one_head(walk(small_model("gpt"), some_ids(7)), 1, 2)


def test_eight_maps_lead_from_q_to_the_merged_heads(one):
    picture = head_picture(one, PIECES, 4, Look())
    tensors = (one.q, one.k, one.scores, one.masked, one.weights, one.v, one.mixed, one.merged)
    for trace, tensor in zip(picture.figure.data, tensors, strict=True):
        assert (len(trace.z), len(trace.z[0])) == tuple(tensor.shape)
    assert [each.text for each in picture.figure.layout.annotations][:3] == [
        "<b>q</b>", "<b>k</b>", "<b>q kᵀ / √6</b>"
    ]  # fmt: skip


def test_the_sentence_and_the_table_are_those_of_the_framed_token(one):
    picture = head_picture(one, PIECES, 4, Look())
    best, score, weight = one.looks_at(4)
    numbers = re.findall(r"-?\d+\.?\d*", picture.alt)
    assert numbers[:4] == ["7", "5", str(best + 1), f"{score:.2f}"]
    assert float(numbers[4]) == pytest.approx(100 * weight, abs=0.06)
    assert picture.table["token"] == list("abcde")
    shares = [float(each.rstrip("% \u202f\u00a0")) for each in picture.table["weight"]]
    assert sum(shares) == pytest.approx(100, abs=0.3)


def test_masks_of_both_conventions_are_opposite_and_the_wrong_one_has_a_row_of_nan():
    spec = {"kind": "tril", "length": 5, "amount": 0}
    keeps = run_mask(MaskSpec(**spec, inverted=False, route="sdpa"))
    hides = run_mask(MaskSpec(**spec, inverted=True, route="mha"))
    turned = run_mask(MaskSpec(**spec, inverted=False, route="softmax"))
    figure = mask_conventions_picture(keeps, hides, turned, Look()).figure
    first, second, weights, wrong = ([list(row) for row in each.z] for each in figure.data)
    assert [[1 - cell for cell in row] for row in first] == second
    assert keeps.weights == hides.weights
    assert weights[1] == [0.5, 0.5, 0, 0, 0]
    assert wrong[-1] == [None] * 5
    assert [each.text for each in figure.layout.annotations if "NaN" in each.text] == ["<b>NaN</b>"]
