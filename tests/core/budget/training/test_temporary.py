"""What a step needs for a moment."""

import torch
from torch.nn.functional import cross_entropy

from core.budget.catalogue.models import MODELS
from core.budget.recipe import TrainingRecipe
from core.budget.share import whole
from core.budget.simulation.tracker import StorageTracker
from core.budget.training.states import state_sizes
from core.budget.training.temporary import (
    logits_and_loss,
    step_temporary,
    step_walk,
    temporary_sizes,
)
from core.budget.weights.parameters import counts, share_counts

SPEC = MODELS["llama-3.1-8b"]


def sizes_of(recipe, spec=SPEC):
    share = whole(spec)
    held = share_counts(spec, share)
    sizes = state_sizes(spec, recipe, share, held) | temporary_sizes(spec, recipe, share, held)
    tokens = {
        "num_tokens": recipe.num_tokens,
        "norm_tokens": recipe.num_tokens,
        "value_bytes": 2,
        "residual_bytes": 2,
    }
    return sizes | tokens | {"vocab_size": spec.vocab_size, "hidden_dim": spec.hidden_dim}


def test_cross_entropy_over_fp32_logits_takes_12_bytes_a_token_and_vocabulary_row():
    recipe = TrainingRecipe(seq_len=8192)
    assert logits_and_loss(sizes_of(recipe)).amount == 12 * 8192 * 128_256


def test_logits_that_the_training_loop_keeps_are_the_upper_end_of_the_loss():
    """Oracle: the loss on meta tensors, the logits' name kept or given up before backward."""

    def peak(keeps: bool) -> int:
        tracker = StorageTracker()
        hidden = torch.empty(64, 32, device="meta", dtype=torch.bfloat16, requires_grad=True)
        tracker.ignore([hidden])
        with tracker:
            logits = hidden.expand(5, 64, 32).flatten(0, 1) * 1  # their own storage, as a head's
            loss = cross_entropy(logits.float(), torch.zeros(320, device="meta", dtype=int))
            if not keeps:
                del logits
            loss.backward()
        return tracker.timeline({}).peak

    numbers = 320 * 32
    small = {"loss_chunks": 1, "num_tokens": 320, "vocab_size": 32, "made_bytes": 2}
    found = logits_and_loss(small)
    beside = peak(keeps=False) - found.amount  # targets, the loss, sums of rows
    assert 0 <= beside < numbers
    assert peak(keeps=True) - beside == found.high == found.amount + 2 * numbers
    assert found.kind == "estimated"


def test_the_loss_in_pieces_needs_one_piece_and_the_heads_gradient():
    whole_loss = logits_and_loss(sizes_of(TrainingRecipe(seq_len=8192))).amount
    pieces = logits_and_loss(sizes_of(TrainingRecipe(seq_len=8192, loss_chunks=8))).amount
    table = 2 * 128_256 * 4096
    assert pieces == max(whole_loss // 8 + table, 3 * table) + 2 * 8192 * 4096


def test_a_foreach_step_of_adamw_in_fp32_takes_a_copy_of_all_weights():
    recipe = TrainingRecipe(precision="fp32", step_kind="foreach")
    assert step_temporary(recipe, sizes_of(recipe)).amount == 4 * counts(SPEC).total
    fused = TrainingRecipe(precision="fp32", step_kind="fused")
    assert step_temporary(fused, sizes_of(fused)).amount == 0


def test_fp32_moments_on_bf16_weights_need_a_fused_step():
    assert step_walk(TrainingRecipe(precision="cs336_12", step_kind="foreach")) == "fused"
    assert step_walk(TrainingRecipe(precision="fp32", step_kind="foreach")) == "foreach"
