"""Which layers of a config.json have attention, a window, a fixed state, a feed-forward layer."""

from dataclasses import dataclass
from typing import Final

from core.budget.catalogue.hf_families import Family
from core.budget.catalogue.hf_fields import (
    Config,
    flag,
    optional_number,
    shown,
    whole_numbers,
    words,
)
from core.language import _

_NAMES: Final = {
    "full": "full_attention attention global_attention indexed_attention *",
    "windowed": "sliding_attention local_attention",
    "chunked": "chunked_attention",
    "recurrent": "linear_attention mamba mamba2 conv recurrent M",
    "mlp": "mlp -",
    "moe": "moe E",
}
_KINDS: Final = {name: kind for kind, names in _NAMES.items() for name in names.split()}
"""What a file calls a layer -> what it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layers:
    """The kind of each layer, where a file says it.

    Attributes:
        kinds: "full", "windowed", "chunked", "recurrent", "mlp", "moe" or, of what is not known
            here, "other"; empty where the file lists none.
        listed: The field that lists them.
    """

    kinds: tuple[str, ...] = ()
    listed: str = ""

    def where(self, *kinds: str) -> tuple[int, ...]:
        """Return the indices of the layers of these kinds."""
        return tuple(layer for layer, kind in enumerate(self.kinds) if kind in kinds)

    @property
    def are_single(self) -> bool:
        """Whether a layer is one part alone: attention, a state, or a feed-forward layer."""
        return self.listed == "hybrid_override_pattern" or not {"mlp", "moe"}.isdisjoint(self.kinds)

    @property
    def without_attention(self) -> tuple[int, ...]:
        """The layers that have no attention."""
        return self.where("recurrent", "mlp", "moe", "other")

    @property
    def without_ffn(self) -> tuple[int, ...]:
        """The layers that have no feed-forward layer."""
        return self.where("full", "windowed", "recurrent", "other") if self.are_single else ()


def read_layers(config: Config, num_layers: int) -> Layers:
    """Return the kind of each layer, by the first field of the file that says it.

    Raises:
        ValueError: If a list has another length than the model, or is none.
    """
    pattern = config.get("hybrid_override_pattern")
    if said := words(config, "layer_types"):
        key = "layer_types"
    elif pattern:
        key, said = "hybrid_override_pattern", tuple(str(pattern))
    else:
        return _by_attention(config, num_layers)
    if len(said) != num_layers:
        raise ValueError(
            _("{key} in config.json lists {listed} layers, but the model has {layers}.").format(
                key=key, listed=len(said), layers=num_layers
            )
        )
    return Layers(kinds=tuple(_KINDS.get(kind, "other") for kind in said), listed=key)


def _by_attention(config: Config, num_layers: int) -> Layers:
    """Return the layers where a file says only which of them have attention."""
    linear = config.get("linear_attn_config")
    interval = optional_number(config, "full_attention_interval", 0, low=0)
    if isinstance(linear, dict):
        key, full = "linear_attn_config", {n - 1 for n in whole_numbers(linear, "full_attn_layers")}
    elif config.get("full_attn_idxs") is not None:
        key, full = "full_attn_idxs", {*whole_numbers(config, "full_attn_idxs")}
    elif interval:
        key, full = "full_attention_interval", {*range(interval - 1, num_layers, interval)}
    else:
        return Layers()
    kinds = ("full" if layer in full else "recurrent" for layer in range(num_layers))
    return Layers(kinds=tuple(kinds), listed=key)


def read_window(
    config: Config, layers: Layers, num_layers: int, family: Family
) -> tuple[int | None, tuple[int, ...]]:
    """Return the sliding window in tokens and the layers that have it: (None, ()) without one.

    Raises:
        ValueError: If a number cannot be.
    """
    if family.windowed == "chunks":
        return _read_chunks(config, layers, num_layers)
    window = optional_number(config, "sliding_window", 0, low=0)
    if not window or not flag(config, "use_sliding_window", default=family.windowed != "late"):
        return None, ()
    everywhere = range(num_layers)
    if layers.listed:
        found = layers.where("windowed")
    elif config.get("sliding_window_pattern") or family.windowed == "pattern":
        found = _in_pattern(config, num_layers, family.pattern)
    elif family.windowed == "late":
        found = (*everywhere[optional_number(config, "max_window_layers", num_layers, low=0) :],)
    else:
        found = (*everywhere,) if family.windowed == "all" else ()
    return (window, found) if found else (None, ())


def _in_pattern(config: Config, num_layers: int, default: int) -> tuple[int, ...]:
    """Return the layers with a window: all but the last of every few, or those of L and G."""
    pattern = config.get("sliding_window_pattern")
    if isinstance(pattern, str) and pattern:
        if not {*pattern} <= {"L", "G"}:
            raise ValueError(
                _(
                    "sliding_window_pattern in config.json is {value}; it must be a number or a "
                    "row of L and G."
                ).format(value=shown(pattern))
            )
        return tuple(n for n in range(num_layers) if pattern[n % len(pattern)] == "L")
    every = optional_number(config, "sliding_window_pattern", default)
    return tuple(layer for layer in range(num_layers) if (layer + 1) % every)


def _read_chunks(
    config: Config, layers: Layers, num_layers: int
) -> tuple[int | None, tuple[int, ...]]:
    """Return the chunk and the layers that have it: those with rotary positions, three in four."""
    chunk = optional_number(config, "attention_chunk_size", 0, low=0)
    every = optional_number(config, "no_rope_layer_interval", 4)
    found = tuple(layer for layer in range(num_layers) if (layer + 1) % every)
    if listed := whole_numbers(config, "no_rope_layers"):  # 1 with rotary positions, 0 without
        listed += (1,) * num_layers
        found = tuple(layer for layer in range(num_layers) if listed[layer])
    if layers.kinds:
        found = layers.where("chunked")
    return (chunk, found) if chunk and found else (None, ())
