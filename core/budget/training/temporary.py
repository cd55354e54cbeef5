"""What a training step needs for a moment: logits and loss, gradients on their way, copies."""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.optimizers import OPTIMIZERS, walk
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.item import Formula, Item, Number, counted, estimated
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share
from core.budget.weights.parameters import ParameterCounts
from core.language import N_
from core.models.spec import ModelSpec

LOGITS: Final = Formula("12 * num_tokens * vocab_size")
CHUNKED_LOGITS: Final = Formula(
    "max(12 * ceil(num_tokens / loss_chunks) * vocab_size"
    " + (made_bytes + copy_bytes) * trained_table,"
    " made_bytes * ceil(num_tokens / loss_chunks) * vocab_size"
    " + (2 * made_bytes + copy_bytes) * trained_table,"
    " 3 * made_bytes * trained_table) + residual_bytes * norm_tokens * hidden_dim"
)
FORWARD_LOGITS: Final = Formula("8 * ceil(num_tokens / loss_chunks) * vocab_size")
FOREACH: Final = Formula("(state_bytes * num_copies + copied_bytes) * num_updated")
FOR_LOOP: Final = Formula(
    "state_bytes * max((num_copies - 1) * largest_tensor, num_copies * largest_matrix,"
    " min(1, num_copies) * first_table + (num_copies - 1) * after_table)"
    " + copied_bytes * num_updated"
)
MUON: Final = Formula(
    "max((num_copies - 1) * state_bytes * largest_tensor,"
    " (state_bytes + 4) * largest_matrix + 4 * largest_square) + copied_bytes * num_updated"
)
FUSED: Final = Formula("0 * num_updated")
_STEPS: Final = {"foreach": FOREACH, "for_loop": FOR_LOOP, "fused": FUSED}
_LOSS: Final = N_("log-probabilities, their gradient and the softmax's, each in fp32: traced")
_KEPT_LOGITS: Final = N_(
    "log-probabilities, their gradient and the softmax's, each in fp32: traced; at most the logits "
    "themselves too, where the training loop keeps them during the backward pass"
)


def temporary_sizes(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, held: ParameterCounts
) -> dict[str, Number]:
    """Return what temporary tensors depend on beside `activation_sizes` and `state_sizes`."""
    precision = PRECISIONS[recipe.precision]
    is_plain = spec.num_heads == spec.num_kv_heads  # else groups of heads repeat the values
    rows, experts = recipe.num_tokens, 1
    if spec.mixture is not None and share.num_expert_layers:
        rows *= spec.mixture.experts_per_token
        experts = spec.mixture.num_experts // share.expert or 1
    return {
        "loss_chunks": min(recipe.loss_chunks, recipe.num_tokens),
        "unrepeated_dim": spec.num_kv_heads * spec.head_dim // share.tensor if is_plain else 0,
        "num_flowing": _num_flowing(spec, recipe),
        "writes_scores": int(PROFILES[recipe.profile].attention == "full"),
        "gathered_bytes": precision.gathered,
        "params_of_layer": -(-held.layers // share.num_layers),
        **_layer_params(share, held),
        "params_outside": held.total - held.layers,
        "params_of_last_matrix": spec.hidden_dim * _inner_dim(spec, share) * experts,
        "params_of_embedding": held.embeddings - (held.token_embedding if spec.tied else 0),
        "num_inner_rows": rows,
        "inner_dim": _inner_dim(spec, share),
        "dense_dim": -(-spec.ffn_dim // share.tensor),
        **_gradient_sizes(recipe, share),
        "branch_bytes": (
            precision.value
            if PROFILES[recipe.profile].dropout or precision.value != precision.residual
            else 0
        ),
        "copied_layers": held.matrices + held.router,
        "copied_in_layer": -(-(held.matrices + held.router) // share.num_layers),
        "copied_head": (held.head or held.token_embedding) if share.has_head else 0,
        **_copies(recipe),
        **_largest(spec, recipe, share),
    }


def _layer_params(share: Share, held: ParameterCounts) -> dict[str, Number]:
    in_experts = held.experts + held.router + held.shared_experts
    common = -(-(held.layers - in_experts - held.dense_ffn) // share.num_layers)
    return {
        "params_of_dense_layer": common + -(-held.dense_ffn // max(1, share.num_dense_layers)),
        "params_of_expert_layer": common + -(-in_experts // max(1, share.num_expert_layers)),
    }


def _num_flowing(spec: ModelSpec, recipe: TrainingRecipe) -> int:
    """Return how many gradients of the inner width there are beside what the product leaves.

    That of the product, and one for each tensor that it was made of; written in steps, GELU is a
    product of two, in fp32 under autocast.
    """
    precision = PRECISIONS[recipe.precision]
    if spec.gated:
        return 2
    if PROFILES[recipe.profile].gelu == "steps":
        return 3 * precision.residual // precision.value - 1
    return 1


def _gradient_sizes(recipe: TrainingRecipe, share: Share) -> dict[str, Number]:
    """Return the bytes of a number of a gradient that has just come.

    Under autocast the product gives 16 bits, then its copy's cast gives fp32; the copy of the
    matrix is freed with the product.
    """
    precision = PRECISIONS[recipe.precision]
    new = precision.value if precision.master else precision.weights
    copies, adds = precision.copies, keeps_adding(recipe, share)
    return {
        "new_gradient_bytes": new,
        "arriving_bytes": precision.gradients,
        "made_bytes": precision.value,
        "copy_bytes": copies,
        "cast_bytes": new + precision.value if copies else 0,
        "left_bytes": (0 if adds else new) - copies,
    }


def _copies(recipe: TrainingRecipe) -> dict[str, Number]:
    """Return how many copies the optimizer's step makes, and the bytes of gradients it widens."""
    row, kind = OPTIMIZERS[recipe.optimizer], step_walk(recipe)
    precision = PRECISIONS[recipe.precision]
    widens = precision.master > 0 and not precision.resident and kind != "fused"
    copies = {"foreach": row.foreach_copies or 0, "for_loop": row.loop_copies, "fused": 0}
    return {"num_copies": copies[kind], "copied_bytes": 4 if widens else 0}


def _largest(spec: ModelSpec, recipe: TrainingRecipe, share: Share) -> dict[str, Number]:
    """Return the numbers in the largest tensors that a rank holds whole.

    A loop holds the last tensor's copy until the next has its own: "largest_matrix" comes after one
    as large, which with biases in between it does not; "after_table" comes after the first table.
    """
    table = -(-spec.vocab_size // share.tensor) * spec.hidden_dim
    widths = [spec.num_heads * spec.head_dim // share.tensor]
    if spec.num_dense_layers:
        widths.append(-(-spec.ffn_dim // share.tensor))
    matrix = spec.hidden_dim * max(widths)
    if spec.mixture is not None:
        inner = -(-spec.mixture.expert_dim // share.tensor)
        experts = spec.mixture.num_experts // share.expert or 1
        matrix = max(matrix, experts * inner * spec.hidden_dim)
    is_here = share.has_embedding or share.has_head
    is_alone = spec.ffn_bias and recipe.optimizer != "muon"  # whose copies are of one matrix
    matrix_alone = 0 if recipe.optimizer == "muon" else matrix
    after_table = (spec.learned_positions or widths[0]) * spec.hidden_dim
    square = min(spec.hidden_dim, max(widths)) ** 2  # Muon's product of a matrix with itself
    largest: dict[str, Number] = {
        "trained_table": table if share.has_head else 0,
        "waiting_table": table if spec.tied and share.has_head and share.has_embedding else 0,
        "largest_tensor": -(-max(table * is_here, matrix_alone) // share.optimizer_shards),
        "first_table": -(-table // share.optimizer_shards) if share.has_embedding else 0,
        "after_table": -(-after_table // share.optimizer_shards),
        "largest_square": 0 if spec.mixture else -(-square // share.optimizer_shards),
        "largest_matrix": 0 if is_alone else -(-matrix // share.optimizer_shards),
        "extra_tables": table * _waiting_tables(spec, recipe, share),
    }
    if recipe.lora is not None:
        width = max(spec.hidden_dim, *widths)
        adapter = -(-recipe.lora.rank * width // share.optimizer_shards)
        zeros: dict[str, Number] = dict.fromkeys(largest, 0)
        return zeros | {"largest_matrix": adapter}
    return largest


def _waiting_tables(spec: ModelSpec, recipe: TrainingRecipe, share: Share) -> int:
    """Return how many tables wait beside all gradients when the embedding's gradient comes.

    A tied table's two gradients are added into a third, or into the first where that was made by
    an addition or a cast; what is then added to gradients that are there is one more.
    """
    if not share.has_embedding:
        return 0
    is_shared = spec.tied and share.has_head
    in_place = recipe.loss_chunks > 1 or PRECISIONS[recipe.precision].copies > 0
    return is_shared * (1 if in_place else 2) + keeps_adding(recipe, share)


def keeps_adding(recipe: TrainingRecipe, share: Share) -> bool:
    """Return whether a new gradient is added to one that is there, and then freed."""
    precision = PRECISIONS[recipe.precision]
    is_sum = precision.resident > 0 and not precision.accumulated
    return recipe.accumulation > 1 or share.holds_several or is_sum


def _inner_dim(spec: ModelSpec, share: Share) -> int:
    is_dense = spec.mixture is None or not share.num_expert_layers
    width = spec.ffn_dim if is_dense or spec.mixture is None else spec.mixture.expert_dim
    return -(-width // share.tensor)


def step_walk(recipe: TrainingRecipe) -> str:
    """Return how the step is really taken: bf16 weights with fp32 moments need a fused kernel."""
    precision = PRECISIONS[recipe.precision]
    if not precision.master and precision.state > precision.weights:
        return "fused"
    return walk(OPTIMIZERS[recipe.optimizer], recipe.step_kind)


def logits_and_loss(sizes: Mapping[str, Number]) -> Item:
    """Return the bytes at the start of the loss's backward pass: 12 a token and vocabulary row.

    The logits themselves are gone by then unless the training loop still has a name for them.
    """
    return _with_kept_logits(CHUNKED_LOGITS, LOGITS, 12, sizes)


def logits_in_forward(sizes: Mapping[str, Number]) -> Item:
    """Return the bytes in the forward pass of the loss: logits and log-probabilities in fp32."""
    return _with_kept_logits(FORWARD_LOGITS, FORWARD_LOGITS, 8, sizes)


def _with_kept_logits(
    chunked: Formula, whole: Formula, bytes_each: int, sizes: Mapping[str, Number]
) -> Item:
    """Return what the formula says; of a loss in one piece the loop may keep the logits too."""
    if sizes["loss_chunks"] > 1:
        return counted("logits and loss", chunked, sizes, _LOSS)
    return estimated(
        "logits and loss", whole, sizes, _KEPT_LOGITS, (0.0, sizes["made_bytes"] / bytes_each)
    )


def step_temporary(recipe: TrainingRecipe, sizes: Mapping[str, Number]) -> Item:
    """Return what the optimizer's step makes and frees."""
    rule = _STEPS[step_walk(recipe)]
    source = OPTIMIZERS[recipe.optimizer].source
    if recipe.optimizer == "muon" and sizes["largest_square"]:
        rule = MUON
    if rule in {FOR_LOOP, MUON}:
        return estimated("temporary", rule, sizes, source, 0.35)
    return counted("temporary", rule, sizes, source)
