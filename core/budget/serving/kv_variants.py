"""The same model with other kinds of attention: what each would keep of a context."""

from dataclasses import dataclass, replace

from core.budget.item import Item
from core.budget.serving.kv_cache import kv_cache
from core.language import N_
from core.models.spec import ModelSpec

AS_MADE = N_("as made")
NO_WINDOWS = N_("no windows")
MHA = N_("MHA")
MQA = N_("MQA")


@dataclass(frozen=True, kw_only=True, slots=True)
class KVVariant:
    """A kind of attention in one format.

    Attributes:
        name: A message id: what is different.
        num_kv_heads: Key heads; 0 with latent attention.
        kv_format: How the cache is stored.
        cache: The bytes of one sequence.
    """

    name: str
    num_kv_heads: int
    kv_format: str
    cache: Item


def kv_variants(spec: ModelSpec, context: int, kv_format: str) -> tuple[KVVariant, ...]:
    """Return the cache of one sequence: MHA, no windows, as made, MQA; 16 bits and the format.

    A model with latent attention is also shown with the heads that it would have without.

    Raises:
        ValueError: If the context or the format cannot be.
    """
    formats = dict.fromkeys(("bfloat16", kv_format))
    return tuple(
        KVVariant(
            name=name,
            num_kv_heads=0 if kind.latent else kind.num_kv_heads,
            kv_format=fmt,
            cache=kv_cache(kind, context, 1, fmt),
        )
        for name, kind in _kinds(spec)
        for fmt in formats
    )


def _kinds(spec: ModelSpec) -> list[tuple[str, ModelSpec]]:
    heads = spec
    if spec.latent is not None:
        heads = replace(spec, latent=None, head_dim=spec.latent.nope_dim)
    kinds = [(MHA, with_kv_heads(heads, heads.num_heads))]
    if spec.num_windowed_layers:
        kinds.append((NO_WINDOWS, replace(spec, num_windowed_layers=0)))
    kinds.append((AS_MADE, spec))
    kinds.append((MQA, with_kv_heads(heads, 1)))
    made = (spec.num_kv_heads, spec.latent)
    return [
        (name, kind)
        for name, kind in kinds
        if name in {AS_MADE, NO_WINDOWS} or (kind.num_kv_heads, kind.latent) != made
    ]


def with_kv_heads(spec: ModelSpec, num_kv_heads: int) -> ModelSpec:
    """Return the model with other key heads; latent attention has none and stays as it is.

    Raises:
        ValueError: If they do not divide the query heads.
    """
    return spec if spec.latent else replace(spec, num_kv_heads=num_kv_heads)
