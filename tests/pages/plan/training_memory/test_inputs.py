"""The snippet of the memory page."""

from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.scenario import named_scenario
from pages.plan.training_memory.inputs import Case, write_code


def test_the_snippet_names_only_what_was_chosen():
    recipe = TrainingRecipe(batch_size=2, lora=LoRA(rank=4))
    layout = {"num_devices": 8, "zero_stage": 3}
    case = Case(
        scenario=named_scenario("llama-2-70b", "h100-sxm", recipe, layout),
        model='MODELS["llama-2-70b"]',
        device='DEVICES["h100-sxm"]',
    )
    code = write_code(case)
    assert "TrainingRecipe(batch_size=2, lora=LoRA(rank=4, targets=('q', 'v')" in code
    assert 'Cluster(device=DEVICES["h100-sxm"], num_devices=8, zero_stage=3)' in code
    assert 'training_budget(MODELS["llama-2-70b"], recipe, cluster)' in code
