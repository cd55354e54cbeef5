"""Every error text of the search is really raised by this torch, word for word."""

import platform

import pytest
import torch

from pages.start.home.torch_errors import load_torch_errors

ERRORS = load_torch_errors()


@pytest.mark.parametrize("error", ERRORS, ids=[error.slug for error in ERRORS])
@pytest.mark.filterwarnings("ignore")
def test_the_code_raises_exactly_this_text(error):
    if error.system and error.system != platform.system():
        pytest.skip(f"{error.system} words this differently")
    if error.slug == "no-cuda-build" and torch.cuda.is_available():
        pytest.skip("this torch has CUDA")

    with pytest.raises(Exception) as caught:  # noqa: PT011  the type is compared below
        exec(error.code, {"torch": torch})  # noqa: S102  our own file

    assert type(caught.value).__name__ == error.type
    assert str(caught.value).split("\n")[0] == error.text


def test_every_text_is_explained_and_remedied_in_both_languages():
    for error in ERRORS:
        for part in (error.why, error.fix):
            assert set(part) == {"en", "zh"}, error.slug
            assert all(part.values()), error.slug


def test_slugs_are_unique():
    assert len({error.slug for error in ERRORS}) == len(ERRORS) >= 25
