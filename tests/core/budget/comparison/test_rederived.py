"""What the published figures add to our budgets: parts that no recipe names."""

from tests.core.budget.comparison.published import published
from tests.core.budget.comparison.rederived import (
    rederive,
)


def test_every_technique_of_torchtune_s_ladder_spares_memory_in_ours_as_in_the_published_figures():
    rows = [row for slug, row in published().items() if slug.startswith("torchtune-")][1:]
    assert len(rows) > 7
    for amounts in ([row.value for row in rows], [rederive(row).amount for row in rows]):
        assert amounts == sorted(amounts, reverse=True)
