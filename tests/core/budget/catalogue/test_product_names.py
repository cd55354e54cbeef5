import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.product_names import PRODUCT_NAMES, sold_as


@pytest.mark.parametrize(("name", "key"), PRODUCT_NAMES.items())
def test_every_name_leads_to_one_row_of_an_nvidia_card(name, key):
    assert DEVICES[key].maker == "NVIDIA"
    for prefix in ("", "NVIDIA "):
        assert sold_as(prefix + name) is DEVICES[key]


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA A10G",
        "NVIDIA GeForce RTX 3060",
        "NVIDIA H20-3e",
        "NVIDIA H100",
        "NVIDIA L40",
        "CPU",
        "",
    ],
)
def test_a_name_that_is_only_like_one_leads_nowhere(name):
    assert sold_as(name) is None
