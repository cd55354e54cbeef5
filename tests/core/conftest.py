"""What several rooms of core need: the probe of a machine that nobody has."""

import pytest

from tests.made_probe import PROBE


@pytest.fixture
def made_probe():
    """A probe of a machine with one CPU and one GPU."""
    return PROBE
