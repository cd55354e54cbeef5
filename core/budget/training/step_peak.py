"""The moments of a training step at which its memory can peak, and what is there in each.

After the forward pass every activation is there, and under autocast a copy of every matrix; the
loss then holds its log-probabilities and their gradients. In the backward pass activations leave
while gradients arrive: it is followed through its last layer and its first. The optimizer's step
has all gradients and its own copies.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.item import Formula, Item, Number, counted, estimated, total
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share
from core.budget.training.activations import (
    dense_in_run,
    layer_activations,
    outside_activations,
    recomputed_activations,
    rotary_activations,
)
from core.budget.training.states import gradients, resident_gradients
from core.budget.training.temporary import (
    keeps_adding,
    logits_and_loss,
    logits_in_forward,
    step_temporary,
)
from core.language import N_
from core.models.spec import ModelSpec

ARRIVED: Final = Formula("held_gradients + new_gradient_bytes * arrived_params")
LATER_GRADIENTS: Final = Formula(
    "all_gradients - arriving_bytes * (late_params // gradient_shards)"
    " + new_gradient_bytes * (unshared_params + waiting_params)"
)
LAST_LAYERS: Final = Formula(
    "of_layers * ((in_flight - 1) * num_runs + 1) // (in_flight * num_runs)"
)
WITHOUT_LAST_RUN: Final = Formula("of_layers * (num_runs - 1) // num_runs")
CAST_COPIES: Final = Formula("2 * num_copied")
GATHERED: Final = Formula("gathered_bytes * (2 * params_of_layer + params_outside)")
_RESIDUAL: Final = "residual_bytes * norm_tokens * hidden_dim"
_INNER: Final = "value_bytes * num_inner_rows * inner_dim"
FLOWING: Final = Formula(
    f"{_RESIDUAL} + max({_INNER} + branch_bytes * norm_tokens * hidden_dim"
    f" + made_bytes * trained_matrix, num_flowing * {_INNER} + left_bytes * trained_matrix,"
    " cast_bytes * trained_matrix)"
)
SCORES_FLOWING: Final = Formula(
    f"max(0, value_bytes * num_heads * batch_size * seq_len ** 2"
    f" + value_bytes * num_tokens * query_dim + {_RESIDUAL}"
    " + left_bytes * params_between - activations_between)"
)
FORWARD_SCORES: Final = Formula(
    "(3 * value_bytes + 1) * num_heads * batch_size * seq_len ** 2 + value_bytes * seq_len ** 2"
    " + value_bytes * num_tokens * (4 * query_dim + unrepeated_dim)"
    " + (rotated_bytes + copy_bytes) * num_tokens * (query_dim + kv_dim)"
    f" + qkv_copies * value_bytes * norm_tokens * hidden_dim + {_RESIDUAL}"
)
FINAL_NORM: Final[Mapping[str, Formula]] = {
    "steps": Formula("20 * norm_tokens * hidden_dim"),
    "kernel": Formula("2 * value_bytes * norm_tokens * hidden_dim"),
}
HEAD: Final = Formula(
    "max((made_bytes + copy_bytes) * trained_table"
    " + value_bytes * ceil(num_tokens / loss_chunks) * vocab_size,"
    " cast_bytes * trained_table) + value_bytes * norm_tokens * hidden_dim"
)
LAST: Final = Formula("value_bytes * norm_tokens * hidden_dim + new_gradient_bytes * extra_tables")
_SCORES: Final = N_("scores, their softmax, and what dropout leaves of it with its mask: traced")
_FLOW: Final = N_("gradients of activations on their way through one layer: traced")
_AUTOCAST: Final = N_(
    "torch.autocast keeps a bf16 copy of each matrix until its context closes, and autograd those"
    " that it has saved until their backward pass"
)
_FSDP: Final = N_("torch fully_shard: this layer, the next one, and what lies outside the layers")
_NOW: Final = N_("what is in memory at that moment")
_ARRIVED: Final = N_("gradients that are there when the backward pass is in that layer")
_LEFT: Final = N_("the backward pass has come to the first layers; what it passed is freed")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Case:
    """A rank's step, and the parts that several moments share."""

    spec: ModelSpec
    recipe: TrainingRecipe
    share: Share
    sizes: Mapping[str, Number]
    layers: tuple[Item, ...]
    held: tuple[Item, ...]
    all_gradients: Item

    @property
    def adds(self) -> bool:
        return keeps_adding(self.recipe, self.share)

    @property
    def core_again(self) -> bool:
        """Whether only the attention core is run again, where its own backward pass comes."""
        return self.recipe.checkpointing == "selective" and self.recipe.profile == "megatron"

    @property
    def keeps_layers(self) -> bool:
        """Whether the products of all layers wait for their backward pass, weights' copies too."""
        return self.recipe.checkpointing == "none" or self.core_again


def step_moments(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, sizes: Mapping[str, Number]
) -> tuple[Item, ...]:
    """Return the moments of one step, in their order, each the sum of what is there."""
    full = gradients(recipe, sizes)
    stays = resident_gradients(PRECISIONS[recipe.precision], sizes)
    several = recipe.accumulation > 1 or share.holds_several
    case = _Case(
        spec=spec,
        recipe=recipe,
        share=share,
        sizes=sizes,
        layers=layer_activations(spec, recipe, sizes),
        held=(full,) if several else (stays,) if stays else (),
        all_gradients=full,
    )
    return (
        *_forward_moments(case),
        *_table_moments(case),
        _largest(tuple(_start(case))),
        _largest(tuple(_end(case))),
        _moment(N_("last gradient"), full, counted("temporary", LAST, sizes, _FLOW)),
        _moment(N_("optimizer step"), full, step_temporary(recipe, sizes)),
    )


def _moment(name: str, *parts: Item) -> Item:
    return total(name, parts, source=_NOW)


def _largest(moments: Sequence[Item]) -> Item:
    return max(moments, key=lambda moment: moment.amount)


def _forward_moments(case: _Case) -> Iterator[Item]:
    outside = outside_activations(case.spec, case.recipe, case.share, case.sizes)
    kept = total("activations", (*case.layers, outside), source=case.layers[0].source)
    loss = (logits_and_loss(case.sizes),) if case.share.has_head else ()
    head = case.sizes["copied_head"] if case.sizes["loss_chunks"] == 1 else 0
    copied = case.sizes["copied_layers"] if case.keeps_layers else 0
    around = _around(case, copied + head)
    last = _moment(N_("end of forward"), kept, *loss, *case.held, *around)
    yield _largest((last, *_scores_of_last_layer(case)))
    if PRECISIONS[case.recipe.precision].copies and not case.keeps_layers:
        yield _largest(tuple(_before_autocast_ends(case, kept)))


def _scores_of_last_layer(case: _Case) -> Iterator[Item]:
    """Yield the last layer's forward pass at its scores, beside all that the others keep."""
    if case.sizes["writes_scores"] and case.keeps_layers:
        kept = counted("activations", WITHOUT_LAST_RUN, _of_runs(case), _LEFT)
        around = _around(case, case.sizes["copied_layers"] - case.sizes["copied_in_layer"])
        scores = counted("temporary", FORWARD_SCORES, case.sizes, _SCORES)
        yield _moment(N_("end of forward"), kept, scores, *case.held, *around)


def _before_autocast_ends(case: _Case, kept: Item) -> Iterator[Item]:
    """Yield what can be the largest while the copies of all matrices are there.

    In the loss, or where the last layer writes its scores, before its other matrices are copied.
    """
    sizes, name = case.sizes, N_("before the autocast context closes")
    loss = (logits_in_forward(sizes),) if case.share.has_head else ()
    copied = sizes["copied_layers"] + sizes["copied_head"]
    yield _moment(name, kept, *loss, *case.held, *_around(case, copied))
    if sizes["writes_scores"]:
        read = sizes["hidden_dim"] * (sizes["query_dim"] + 2 * sizes["kv_dim"])
        copied = sizes["copied_layers"] - sizes["copied_in_layer"] + read
        scores = counted("temporary", FORWARD_SCORES, sizes, _SCORES)
        yield _moment(name, _kept(case), scores, *case.held, *_around(case, copied))


def _around(case: _Case, num_copied: Number) -> tuple[Item, ...]:
    """Return the weights' copies: those that autocast made, those that ZeRO-3 puts together."""
    sizes = case.sizes
    around: tuple[Item, ...] = ()
    if PRECISIONS[case.recipe.precision].copies:
        values = {**sizes, "num_copied": num_copied}
        around = (counted("cached copies", CAST_COPIES, values, _AUTOCAST),)
    if case.share.weight_shards == 1 and case.recipe.precision != "fsdp2":
        return around
    gathered = estimated("gathered weights", GATHERED, sizes, _FSDP, 0.2)
    return (*around, gathered)


def _table_moments(case: _Case) -> tuple[Item, ...]:
    if not (case.share.has_head and case.adds):
        return ()
    copied = case.sizes["copied_layers"] if case.keeps_layers else 0
    name, parts = N_("gradient of the output table"), (_kept(case), *case.held)
    return (
        _moment(
            name, *parts, counted("temporary", HEAD, case.sizes, _FLOW), *_around(case, copied)
        ),
    )


def _kept(case: _Case) -> Item:
    outside = rotary_activations(case.sizes)
    return total("activations", (*case.layers, outside), source=case.layers[0].source)


def _start(case: _Case) -> Iterator[Item]:
    sizes, name = case.sizes, N_("start of backward")
    last_run = (sizes["num_layers"] - 1) % sizes["segment_layers"] + 1
    table = _arrived(case, 0)
    if case.share.has_head:
        copied = sizes["copied_layers"] if case.keeps_layers else 0
        in_steps = case.spec.norm == "rms" and PROFILES[case.recipe.profile].rms_norm == "steps"
        rule = FINAL_NORM["steps" if in_steps else "kernel"]
        norm = counted("temporary", rule, sizes, _FLOW)
        yield _moment(name, _kept(case), *table, norm, *_around(case, copied))
    yield from _in_layer(case, name, _kept(case), table, run=last_run, is_last=True)
    if last_run < sizes["segment_layers"]:
        kept = counted("activations", WITHOUT_LAST_RUN, _of_runs(case), _LEFT)
        run = sizes["segment_layers"]
        yield from _in_layer(case, name, kept, _arrived(case, last_run), run=run, is_last=True)


def _of_runs(case: _Case) -> Mapping[str, Number]:
    runs = -(-case.sizes["num_layers"] // case.sizes["segment_layers"])
    of_layers = sum(part.amount for part in case.layers)
    return {**case.sizes, "of_layers": of_layers, "num_runs": runs}


def _end(case: _Case) -> Iterator[Item]:
    sizes, run = case.sizes, case.sizes["segment_layers"]
    values = _of_runs(case)
    layers = counted("first layers", LAST_LAYERS, values, _LEFT)
    kept = total("activations", (layers, rotary_activations(sizes)), source=_LEFT)
    name = N_("end of backward")
    for left in {run, 1}:  # layers of the first run: all, or the first alone
        later = (_later_gradients(case, left),)
        yield from _in_layer(case, name, kept, later, run=left, is_last=False)


def _in_layer(
    case: _Case, name: str, kept: Item, arrived: tuple[Item, ...], *, run: Number, is_last: bool
) -> Iterator[Item]:
    """Yield the feed-forward part's backward pass in a run of layers, and that of the scores."""
    sizes = _run_sizes(case, run, is_last=is_last)
    again = recomputed_activations(case.spec, case.recipe, sizes, is_first=not is_last)
    rerun = (total("recomputed activations", again, source=again[0].source),) if again else ()
    all_layers = is_last and case.keeps_layers
    copied = sizes["copied_layers"] if all_layers else run * sizes["copied_in_layer"]
    around = _around(case, copied)
    made: tuple[Item, ...] = () if case.core_again else rerun
    flowing = estimated("temporary", FLOWING, sizes, _FLOW, 0.5)
    yield _moment(name, kept, *made, *arrived, flowing, *around)
    if not sizes["writes_scores"]:
        return
    if again and not case.core_again:
        earlier = _earlier_in_run(case, run, is_last=is_last)
        yield _moment(
            name,
            kept,
            *earlier,
            *arrived,
            counted("temporary", FORWARD_SCORES, sizes, _SCORES),
            *around,
        )
    # those of the scores come after the feed-forward part's, in place of what that had kept
    values = {
        **sizes,
        "params_between": _params_between(sizes) if not (case.recipe.lora or case.adds) else 0,
        "activations_between": _passed(case, again, sizes, is_last=is_last),
    }
    scores = estimated("temporary", SCORES_FLOWING, values, _FLOW, 0.5)
    yield _moment(name, kept, *rerun, *arrived, scores, *around)


def _run_sizes(case: _Case, run: Number, *, is_last: bool) -> Mapping[str, Number]:
    sizes = {**case.sizes, "segment_layers": run}
    if dense_in_run(sizes, is_first=not is_last) < run:
        sizes["params_of_layer"] = sizes["params_of_expert_layer"]
    else:
        sizes["params_of_layer"] = sizes["params_of_dense_layer"]
        sizes["num_inner_rows"], sizes["inner_dim"] = sizes["num_tokens"], sizes["dense_dim"]
        sizes["params_of_last_matrix"] = sizes["hidden_dim"] * sizes["dense_dim"]
    sizes["trained_matrix"] = 0 if case.recipe.lora else sizes["params_of_last_matrix"]
    return sizes


def _earlier_in_run(case: _Case, run: Number, *, is_last: bool) -> tuple[Item, ...]:
    """Return what a run of layers has made again when it comes to its last layer."""
    if run == 1:
        return ()
    sizes = {**case.sizes, "segment_layers": run - 1}
    earlier = recomputed_activations(case.spec, case.recipe, sizes, is_first=not is_last)
    return (total("recomputed activations", earlier, source=earlier[0].source),)


def _params_between(sizes: Mapping[str, Number]) -> Number:
    """Return the parameters whose gradients come before that of the scores, in one layer."""
    behind = sizes["num_matrices"] * sizes["params_of_last_matrix"]
    behind += sizes["query_dim"] * sizes["hidden_dim"]
    # the gradients of q, k and v come after that of the scores
    read = sizes["hidden_dim"] * (sizes["query_dim"] + 2 * sizes["kv_dim"])
    return min(behind, sizes["params_of_layer"] - read)


def _passed(
    case: _Case, again: Sequence[Item], sizes: Mapping[str, Number], *, is_last: bool
) -> Number:
    """Return what one layer keeps of the part behind its attention, in bytes."""
    run = 1 if case.core_again else sizes["segment_layers"]
    dense = dense_in_run(sizes, is_first=not is_last)
    layers_with = {"feed-forward": dense, "experts": run - dense}
    in_one = {each.name: each.amount // max(1, layers_with.get(each.name, run)) for each in again}
    for part, count in (("feed-forward", "num_dense_layers"), ("experts", "num_expert_layers")):
        for each in case.layers:
            if each.name == part and part not in in_one and sizes[count]:
                in_one[part] = each.amount // (sizes["in_flight"] * sizes[count])
    behind = in_one.get("experts") or in_one.get("feed-forward", 0)
    if "norms" not in in_one:
        return behind
    shared = sizes["shared_bytes"] * sizes["norm_tokens"] * sizes["hidden_dim"]
    return behind + (in_one["norms"] + shared // run) // 2


def _arrived(case: _Case, num_layers: Number) -> tuple[Item, ...]:
    """Return the gradients that are there after the head and a number of layers."""
    sizes, held = case.sizes, case.held
    new = sizes["trained_table"] + _params_of_run(sizes, num_layers, is_first=False)
    if case.adds:  # a tied table's waits for the embedding's
        new = sizes["waiting_table"]
    values = {
        **sizes,
        "held_gradients": held[0].amount if held else 0,
        "arrived_params": 0 if case.recipe.lora else new,
    }
    return (counted("gradients", ARRIVED, values, _ARRIVED),)


def _params_of_run(sizes: Mapping[str, Number], num_layers: Number, *, is_first: bool) -> Number:
    dense = dense_in_run({**sizes, "segment_layers": num_layers}, is_first=is_first)
    with_experts = (num_layers - dense) * sizes["params_of_expert_layer"]
    return dense * sizes["params_of_dense_layer"] + with_experts


def _later_gradients(case: _Case, num_layers: Number) -> Item:
    """Return the gradients when the backward pass is in the last of the first layers."""
    sizes, share = case.sizes, case.share
    layer = _params_of_run(sizes, num_layers, is_first=True)
    in_flow = sizes["params_of_last_matrix"]  # counted with what flows
    is_shared_out = share.gradient_shards > 1
    values = {
        **sizes,
        "all_gradients": case.all_gradients.amount,
        "gradient_shards": share.gradient_shards,
        "late_params": 0 if case.recipe.lora or case.adds else layer + sizes["params_of_embedding"],
        "unshared_params": layer - in_flow if is_shared_out and not case.recipe.lora else 0,
        "waiting_params": sizes["waiting_table"] if case.adds else 0,
    }
    return counted("gradients", LATER_GRADIENTS, values, _ARRIVED)
