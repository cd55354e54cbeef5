"""Profiles are the same ways to write a block as the kernels that are traced."""

from core.budget.catalogue.profiles import PROFILES
from core.models.kernels import KERNELS


def test_every_profile_has_its_kernels_and_its_source():
    assert list(PROFILES) == list(KERNELS)
    assert all(row.source and row.label for row in PROFILES.values())
