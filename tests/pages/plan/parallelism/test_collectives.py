"""What is written of moving bytes: sums of bars, how far it is, one row a collective."""

from core.budget.budget import at_peak
from core.budget.parallel.collectives import collectives, nodes
from core.budget.parallel.communication import communication
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.figures.picture import Look
from pages.plan.parallelism.collectives import (
    MEANINGS,
    heights,
    moving_table,
    phases,
    ranks_of,
    sentences,
)
from tests.core.budget.test_share import cluster, model

RECIPE = TrainingRecipe(accumulation=4)
SPREAD = cluster(32, pipeline=4, tensor=4, zero_stage=1)
BUDGET = training_budget(model(), RECIPE, SPREAD)
FOUND = collectives(model(), RECIPE, SPREAD)
STAGES = [at_peak(stage) for stage in BUDGET.stages]


def drawn(made):
    return ranks_of(made, nodes(made, SPREAD), STAGES)


def test_a_bar_is_as_high_as_its_stage_holds_bytes():
    for made in FOUND:
        for rank in drawn(made):
            stage = rank.number if made.axis == "pipeline" else made.stage
            assert rank.num_bytes == BUDGET.stages[stage].num_bytes
            shares = heights(rank, 2 * rank.num_bytes)
            assert abs(sum(share for _meaning, share in shares) - 0.5) < 1e-12
            assert set(rank.held) <= set(MEANINGS)


def test_the_last_sentence_says_that_all_is_sent():
    for made in FOUND:
        said = list(sentences(made, Look()))
        assert len(said) == len(made.turns) + 1 == len(phases(made)) + 1
        whole = Look().format_bytes(made.sent(len(made.turns)))
        assert f"has sent {whole} of {whole}" in said[-1]


def test_the_table_has_every_line_of_the_busiest_stage():
    busiest = communication(model(), RECIPE, SPREAD)
    lines = {line.name for line in busiest.walk() if line.rule}
    assert lines <= {made.item.name for made in FOUND}
    columns = moving_table(FOUND, Look())
    assert {len(column) for column in columns.values()} == {len(FOUND)}
