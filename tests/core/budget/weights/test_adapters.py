"""Where adapters can sit."""

from core.budget.catalogue.models import MODELS
from core.budget.recipe import LoRA
from core.budget.weights.adapters import adapted


def test_adapters_sit_where_the_model_has_their_matrices():
    everything = LoRA(targets=("q", "k", "v", "o", "gate", "up", "down"))
    assert adapted(MODELS["deepseek-v3"], everything)["attention"] == ("o",)
    assert "feed-forward" not in adapted(MODELS["mixtral-8x7b"], everything)
    assert adapted(MODELS["gpt2"], everything)["feed-forward"] == ("up", "down")
