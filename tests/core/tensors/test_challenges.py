"""Every challenge has one right answer, which torch gives, and beliefs that are wrong."""

import pytest
import torch

from core.tensors.challenges import BELIEFS, MAX_NUMBER, challenge

NUMBERS = range(0, MAX_NUMBER + 1, 7)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_answer_is_torchs_own_and_no_other_is_right(number):
    asked = challenge(number)
    rows, columns = asked.shape
    x = torch.arange(rows * columns, dtype=torch.float32).view(rows, columns)

    result = eval(asked.source, {"x": x})  # noqa: S307  made by the program above, not by a reader
    assert asked.layout.shape == tuple(result.shape)
    assert asked.layout.stride == result.stride()
    assert asked.is_shared == (
        result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    )
    assert result.stride() not in asked.wrong
    assert set(asked.wrong.values()) <= set(BELIEFS)
    assert bool(asked.wrong) == (asked.asked == "stride")


def test_a_number_means_one_question_and_all_kinds_come():
    assert challenge(3) == challenge(3)
    made = [challenge(number) for number in NUMBERS]
    assert len({(each.shape, each.source, each.asked) for each in made}) > len(made) / 2
    assert {each.asked for each in made} == {"stride", "sharing"}
    assert {each.is_shared for each in made} == {True, False}


@pytest.mark.parametrize("number", [-1, MAX_NUMBER + 1])
def test_other_numbers_are_refused(number):
    with pytest.raises(ValueError, match="challenges go from 0 to 999"):
        challenge(number)
