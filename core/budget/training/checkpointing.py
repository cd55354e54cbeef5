"""What activation checkpointing keeps of a layer, and what it runs again."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from core.budget.catalogue.profiles import PROFILES
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.saved_tensors import (
    ATTENTION_INPUT,
    NORMED,
    ROWS,
    Rows,
    Saved,
    saved_tensors,
)
from core.budget.weights.adapters import adapted
from core.language import N_
from core.models.spec import ModelSpec

BLOCK_INPUT: Final = Saved(
    N_("input of the block"), "checkpoint", "residual_bytes * norm_tokens * hidden_dim"
)
_ADAPTER: Final = "value_bytes * num_tokens * rank"
_WIDTHS: Final = {
    "q": "query_dim",
    "k": "kv_dim",
    "v": "kv_dim",
    "o": "hidden_dim",
    "gate": "ffn_dim",
    "up": "ffn_dim",
    "down": "hidden_dim",
}
_TOKENS: Final = "value_bytes * num_tokens * "


def all_tensors(spec: ModelSpec, recipe: TrainingRecipe) -> Mapping[str, Rows]:
    """Return the tensors that one layer keeps without checkpointing, by part of the block."""
    parts = saved_tensors(spec, recipe.profile)
    if recipe.lora is None:
        return parts
    frozen = {part: _frozen(rows, recipe.lora) for part, rows in parts.items()}
    for part, targets in adapted(spec, recipe.lora).items():
        frozen[part] += tuple(Saved(f"A(x), {name}", "LoRA B", _ADAPTER) for name in targets)
    return frozen


def kept_tensors(spec: ModelSpec, recipe: TrainingRecipe) -> Mapping[str, Rows]:
    """Return the tensors that one layer keeps with the recipe's checkpointing, by part.

    "full" and "every_k" keep the input of a block, or of a run of blocks, under "block inputs".
    """
    if recipe.checkpointing == "none":
        return all_tensors(spec, recipe)
    if recipe.checkpointing != "selective":
        return {"block inputs": (BLOCK_INPUT,)}
    if recipe.profile == "megatron":
        return _without_scores(spec, recipe)
    kept = {"block inputs": (BLOCK_INPUT,), **_products(spec)}
    for part, targets in adapted(spec, recipe.lora).items() if recipe.lora else ():
        kept[part] += tuple(
            Saved(f"A(x), B(A(x)), {name}", "LoRA", f"{_TOKENS}(rank + {_WIDTHS[name]})")
            for name in targets
        )
    return kept


def _without_scores(spec: ModelSpec, recipe: TrainingRecipe) -> Mapping[str, Rows]:
    """Return all but the scores, which are made again (Korthikanti et al. 2022, section 5)."""
    parts = all_tensors(spec, recipe)
    rows = parts["attention"]
    start = next(i for i, row in enumerate(rows) if row.what == ROWS["attention full"][0].what)
    core = ROWS["latent core" if spec.latent is not None else "core"]
    rest = [row for row in rows[start + 2 :] if row not in ROWS["scores"]]
    return {**parts, "attention": (*rows[:start], *core, *rest)}


def recomputed_tensors(spec: ModelSpec, recipe: TrainingRecipe) -> Mapping[str, Rows]:
    """Return the tensors that the backward pass of one layer makes again, by part."""
    if recipe.checkpointing == "none":
        return {}
    parts = all_tensors(spec, recipe)
    if recipe.checkpointing != "selective":
        return parts
    if recipe.profile == "megatron":
        return {"attention": tuple(row for row in parts["attention"] if row in ROWS["scores"])}
    return {part: _made_again(spec, recipe.profile, rows) for part, rows in parts.items()}


def _made_again(spec: ModelSpec, profile: str, rows: Rows) -> Rows:
    """Return what the rerun of a block makes beside the kept products that it reads."""
    beside = _beside_kept_products(spec, profile)
    again = (
        row._replace(size=beside.get(row.what, "" if row.output else row.size)) for row in rows
    )
    return tuple(row._replace(output=False) for row in again if row.size)


@lru_cache(maxsize=128)
def _beside_kept_products(spec: ModelSpec, profile: str) -> Mapping[str, str]:
    """Return what is left of a rerun's tensors beside kept products, by name; "" is nothing.

    A product that is itself what the next operation keeps is there once. Where it is not, the
    rerun frees it as soon as that operation has run: queries and keys give their place to the
    rotated ones, the output of attention's last matrix gives its own to a matrix's input.
    """
    if spec.latent is not None:
        return {}
    in_steps = spec.norm == "rms" and PROFILES[profile].rms_norm == "steps"
    if spec.qk_norm and not in_steps:
        left = {"queries and keys before their norm": "", "keys and values": _TOKENS + "kv_dim"}
    else:
        left = {"queries": "", "keys and values": ""}
    if spec.norms_per_layer == 2 or in_steps:
        left[ATTENTION_INPUT] = f"(qkv_copies - 1) * {NORMED}"
    if not spec.gated and PROFILES[profile].gelu == "steps":
        left["GELU's input"] = "(residual_bytes - value_bytes) * num_tokens * ffn_dim"
    return left


def _frozen(rows: Rows, lora: LoRA) -> Rows:
    targets = set(lora.targets)
    return tuple(row for row in rows if not row.input_of or targets & set(row.input_of))


def _products(spec: ModelSpec) -> dict[str, Rows]:
    latent = "" if spec.latent is None else "latent "
    parts = {"attention": ROWS[f"products of {latent}attention"]}
    if spec.num_dense_layers:
        parts["feed-forward"] = ROWS["products of feed-forward"]
    if spec.num_expert_layers:
        has_shared = spec.mixture is not None and spec.mixture.num_shared > 0
        shared = ROWS["products of shared experts"] if has_shared else ()
        parts["experts"] = ROWS["products of experts"] + shared
    return parts
