import pytest
import torch

from core.budget.simulation.recompute import use_checkpointing
from core.models.build import build_model
from tests.core.budget.simulation.test_prepared import LLAMA, recipe


def _gradient(checkpointing: str) -> torch.Tensor:
    torch.manual_seed(0)
    model = build_model(LLAMA, "cpu", device="cpu")
    use_checkpointing(model, recipe(checkpointing=checkpointing, checkpoint_every=2))
    ids = torch.arange(32).view(2, 16)
    model(ids, ids).backward()
    assert model.tokens.weight.grad is not None
    return model.tokens.weight.grad


@pytest.mark.parametrize("checkpointing", ["selective", "full", "every_k"])
def test_recomputing_changes_no_gradient(checkpointing: str):
    torch.testing.assert_close(_gradient(checkpointing), _gradient("none"))


def test_megatrons_selective_mode_runs_the_attention_alone_again():
    model = build_model(LLAMA, "megatron", dtype=torch.bfloat16)
    runs = []

    class Watch:
        def __enter__(self) -> None:
            runs.append(1)

        def __exit__(self, *_: object) -> None:
            pass

    use_checkpointing(model, recipe(profile="megatron", checkpointing="selective"), Watch)
    assert len(model.blocks) == LLAMA.num_layers
    ids = torch.zeros(1, 8, dtype=torch.int64, device="meta")
    model(ids, ids).backward()
    assert len(runs) == LLAMA.num_layers


def test_every_k_makes_runs_of_k_layers_and_a_rest():
    model = build_model(LLAMA)
    use_checkpointing(model, recipe(checkpointing="every_k", checkpoint_every=2))
    assert [len(each.blocks) for each in model.blocks] == [2, 1]
