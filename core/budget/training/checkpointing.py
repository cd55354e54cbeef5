"""What activation checkpointing keeps of a layer, and what it runs again."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from core.budget.catalogue.profiles import PROFILES
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.saved_tensors import (
    ATTENTION,
    ATTENTION_INPUT,
    CORE,
    FULL_SCORES,
    GELU_INPUT,
    LATENT_CORE,
    NORMED,
    QK_NORM,
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
_OUT: Final = N_("output of the last matrix")


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
        # Korthikanti et al. 2022, section 5: the scores are made again, all else stays.
        parts = dict(all_tensors(spec, recipe))  # a copy: the other is kept for the next question
        rows = parts["attention"]
        # what the attention core reads, as it comes: rotated in fp32 under autocast
        start = next(i for i, row in enumerate(rows) if row.what == ATTENTION["full"][0].what)
        read = LATENT_CORE if spec.latent is not None else CORE
        rest = [row for row in rows[start + 2 :] if row not in FULL_SCORES]
        parts["attention"] = (*rows[:start], *read, *rest)
        return parts
    kept = {"block inputs": (BLOCK_INPUT,), **_products(spec)}
    for part, targets in adapted(spec, recipe.lora).items() if recipe.lora else ():
        kept[part] += tuple(
            Saved(f"A(x), B(A(x)), {name}", "LoRA", f"{_TOKENS}(rank + {_WIDTHS[name]})")
            for name in targets
        )
    return kept


def recomputed_tensors(spec: ModelSpec, recipe: TrainingRecipe) -> Mapping[str, Rows]:
    """Return the tensors that the backward pass of one layer makes again, by part."""
    if recipe.checkpointing == "none":
        return {}
    parts = all_tensors(spec, recipe)
    if recipe.checkpointing != "selective":
        return parts
    if recipe.profile == "megatron":
        return {"attention": tuple(row for row in parts["attention"] if row in FULL_SCORES)}
    return {part: _made_again(spec, recipe.profile, rows) for part, rows in parts.items()}


def _made_again(spec: ModelSpec, profile: str, rows: Rows) -> Rows:
    """Return what the rerun of a block makes beside the kept products that it reads."""
    taken = _taken_out(spec, profile)
    again = (row._replace(size=taken.get(row.what, "" if row.output else row.size)) for row in rows)
    return tuple(row._replace(output=False) for row in again if row.size)


@lru_cache(maxsize=128)
def _taken_out(spec: ModelSpec, profile: str) -> Mapping[str, str]:
    """Return what is left of a rerun's tensors beside kept products, by name; "" is nothing.

    A product that is itself what the next operation keeps is there once. Where it is not, the
    rerun frees it as soon as that operation has run: queries and keys give their place to the
    rotated ones, the output of attention's last matrix gives its own to a matrix's input.
    """
    if spec.latent is not None:
        return {}
    in_steps = spec.norm == "rms" and PROFILES[profile].rms_norm == "steps"
    queries, keys, *_others = ATTENTION["flash"]
    if spec.qk_norm and not in_steps:
        taken = {QK_NORM["kernel"][0].what: "", keys.what: _TOKENS + "kv_dim"}
    else:
        taken = {queries.what: "", keys.what: ""}
    if spec.norms_per_layer == 2 or in_steps:
        taken[ATTENTION_INPUT] = f"(qkv_copies - 1) * {NORMED}"
    if not spec.gated and PROFILES[profile].gelu == "steps":
        taken[GELU_INPUT] = "(residual_bytes - value_bytes) * num_tokens * ffn_dim"
    return taken


def _frozen(rows: Rows, lora: LoRA) -> Rows:
    targets = set(lora.targets)
    return tuple(row for row in rows if not row.input_of or targets & set(row.input_of))


def _products(spec: ModelSpec) -> dict[str, Rows]:
    parts = {"attention": _attention_products(spec)}
    if spec.num_dense_layers:
        width = _TOKENS + "num_inner * ffn_dim"
        parts["feed-forward"] = (
            Saved(N_("gate and up"), "matmul", width),
            Saved(_OUT, "matmul down", NORMED),
        )
    if spec.num_expert_layers:
        parts["experts"] = _expert_products(spec)
    return parts


def _attention_products(spec: ModelSpec) -> Rows:
    sums = Saved(N_("log-sum-exp of each row"), "attention", "4 * num_tokens * num_heads")
    last = Saved(_OUT, "matmul o", NORMED)
    if spec.latent is None:
        return (
            Saved(N_("queries, keys and values"), "matmul", _TOKENS + "(query_dim + 2 * kv_dim)"),
            Saved(N_("attention's output"), "attention", _TOKENS + "query_dim"),
            sums,
            last,
        )
    heads = "num_heads * (nope_dim + rope_dim)"
    narrow = "query_rank + kv_rank + rope_dim"
    wide = f"{heads} + num_heads * (nope_dim + value_dim)"
    return (
        Saved(N_("latents"), "matmul", f"{_TOKENS}({narrow})"),
        Saved(N_("queries, keys and values"), "matmul", f"{_TOKENS}({wide})"),
        Saved(N_("attention's padded output"), "attention", _TOKENS + heads),
        sums,
        last,
    )


def _expert_products(spec: ModelSpec) -> Rows:
    rows = (
        Saved(N_("router's scores"), "matmul", _TOKENS + "num_experts"),
        Saved(N_("gate and up"), "bmm", "value_bytes * num_rows * 2 * expert_dim"),
        Saved(_OUT, "bmm", "value_bytes * num_rows * hidden_dim"),
    )
    if spec.mixture is None or not spec.mixture.num_shared:
        return rows
    shared = _TOKENS + "(2 * num_shared * expert_dim + hidden_dim)"
    return (*rows, Saved(N_("shared experts"), "matmul", shared))
