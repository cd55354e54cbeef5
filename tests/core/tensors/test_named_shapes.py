"""Annotations against shapes: what a name is bound to, and the first mismatch."""

import pytest

from core.tensors.named_shapes import check_annotations


def check(**pairs):
    notes = {name: note for name, (note, _shape) in pairs.items()}
    return check_annotations(notes, {name: shape for name, (_note, shape) in pairs.items()})


def test_a_name_is_bound_by_the_first_tensor_that_has_it():
    verdict = check(x=("b t d", (2, 4, 3)), y=("b s d", (2, 5, 3)))

    assert verdict.kind == "ok"
    assert verdict.bindings == {"b": (2, "x"), "t": (4, "x"), "d": (3, "x"), "s": (5, "y")}


def test_the_first_mismatch_is_named_with_what_it_should_be():
    verdict = check(x=("b t d", (2, 4, 3)), y=("b t d", (7, 1, 3)))

    assert verdict.kind == "length"
    wrong = verdict.mismatch
    assert (wrong.tensor, wrong.name, wrong.length, wrong.bound_to, wrong.bound_by) == (
        "y", "b", 7, 2, "x",
    )  # fmt: skip


def test_a_name_twice_in_one_tensor_must_be_as_long_both_times():
    assert check(x=("n n", (3, 3))).kind == "ok"
    assert check(x=("n n", (3, 4))).mismatch.bound_to == 3


def test_numbers_are_compared_and_bind_nothing():
    verdict = check(x=("b 3", (2, 4)))

    assert (verdict.kind, verdict.mismatch.bound_to, verdict.mismatch.bound_by) == ("length", 3, "")
    assert check(x=("b 1 d", (2, 1, 3)), y=("b _ d", (2, 9, 3))).kind == "ok"


@pytest.mark.parametrize(
    ("note", "shape", "bound"),
    [
        ("... d", (2, 4, 3), {"d": 3}),
        ("... d", (3,), {"d": 3}),
        ("b ...", (2, 4, 3), {"b": 2}),
        ("b ... d", (2, 3), {"b": 2, "d": 3}),
        ("...", (), {}),
    ],
)
def test_dots_stand_for_any_number_of_dimensions(note, shape, bound):
    verdict = check(x=(note, shape))

    assert verdict.kind == "ok"
    assert {name: length for name, (length, _by) in verdict.bindings.items()} == bound


@pytest.mark.parametrize(
    ("note", "shape"), [("b t", (2,)), ("b t", (2, 3, 4)), ("b ... t", (2,)), ("", (2,))]
)
def test_another_number_of_dimensions_is_told_before_later_mismatches(note, shape):
    verdict = check(x=(note, shape), y=("n n", (1, 2)))

    assert (verdict.kind, verdict.wrong_rank) == ("rank", "x")
    later = check(y=("n n", (1, 2)), x=(note, shape))
    assert later.kind == "length"


@pytest.mark.parametrize(("note", "said"), [("b *t", "not a valid name"), ("... d ...", "once")])
def test_what_is_no_annotation_is_refused(note, said):
    with pytest.raises(ValueError, match=said):
        check(x=(note, (1, 2)))
