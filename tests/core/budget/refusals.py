"""What a reader could cause is refused with a sentence."""

import pytest


def refused(sentence, call, *arguments, **options):
    """Assert that a call is refused and that its sentence says so; `sentence` is a pattern."""
    with pytest.raises(ValueError, match=sentence):
        call(*arguments, **options)
