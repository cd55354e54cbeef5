"""The architecture of a language model: the numbers that decide bytes and FLOPs.

One shape for GPT-2 and Llama, for dense and mixture-of-experts models, for MHA, GQA, MQA and MLA,
for models of which some layers have a fixed state instead of attention;
and the five numbers of the small GPT-2-like model that the live run trains.
"""

from dataclasses import dataclass
from typing import Final, Literal

from core.language import _

Norm = Literal["rms", "layer"]
Bias = Literal["none", "qkv", "all"]
NormedWidth = Literal["head", "all heads"]
RecurrentKind = Literal["gated delta", "kimi delta", "mamba-2", "short convolution"]
MAX_SIZE: Final = 20_000_000  # of any one dimension: far beyond every model, small enough to count
_POSITIVE: Final = (
    *("num_layers", "hidden_dim", "num_heads", "num_kv_heads"),
    *("head_dim", "ffn_dim", "vocab_size", "seq_len"),
)
_NOT_NEGATIVE: Final = (
    *("norms_per_layer", "learned_positions", "num_windowed_layers"),
    *("num_mtp_layers", "num_activation_params", "num_kv_shared_layers", "num_kv_shared_windowed"),
)
_MIXTURE: Final = ("num_experts", "experts_per_token", "expert_dim")
_LATENT: Final = {"query_rank": 0, "kv_rank": 1, "nope_dim": 1, "rope_dim": 1, "value_dim": 1}
_INDEXER: Final = ("num_heads", "head_dim", "top_k")
_RECURRENT: Final = {"num_heads": 1, "head_dim": 1, "kernel": 1, "num_groups": 0, "state_dim": 0}
_LAYER_INPUTS: Final = ("width", "vocab_size", "num_streams", "rank")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixture:
    """A mixture of experts in place of the feed-forward layer (Shazeer et al. 2017).

    Attributes:
        alternating: Whether these are spread over the model (Llama 4 Maverick: every other layer),
            not the first ones.
        shared_gate: Whether a gate of one number weighs the shared experts (Qwen1.5-MoE).
        correction_bias: Whether the router keeps a trained number for each expert (ERNIE 4.5).
    """

    num_experts: int  # experts in a layer, the shared ones not counted
    experts_per_token: int  # how many of them the router picks for one token
    expert_dim: int  # inner width of one expert
    num_shared: int = 0  # experts that every token passes, each as wide as `expert_dim`
    num_dense_layers: int = 0  # layers that have a dense feed-forward layer instead
    alternating: bool = False
    bias: bool = False  # whether the experts' matrices and the router have biases (gpt-oss)
    shared_gate: bool = False
    correction_bias: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2, 2024, section 2.1)."""

    query_rank: int  # width of the compressed queries; 0 if they are not compressed
    kv_rank: int  # width of the compressed keys and values: what the KV cache keeps
    nope_dim: int  # width of a head's query and key without rotary positions
    rope_dim: int  # width of the part with them; one key of it is shared by all heads
    value_dim: int  # width of a head's value


@dataclass(frozen=True, kw_only=True, slots=True)
class Indexer:
    """What picks the tokens that latent attention looks at (DeepSeek-V3.2, 2025, section 2.1).

    It reads the compressed queries, has one key for all its heads, kept in the cache, and a
    LayerNorm on it.
    """

    num_heads: int  # its heads; each has a weight that depends on the token
    head_dim: int  # width of a head and of the key
    top_k: int  # tokens that a query looks at


@dataclass(frozen=True, kw_only=True, slots=True)
class Recurrent:
    """What keeps a state of fixed size in some layers, in place of attention or beside it.

    A convolution over the last tokens, and behind it (not in a short convolution, LFM2, 2025) a
    state for each head: Gated DeltaNet (Yang et al. 2024), Kimi Delta Attention (2025), Mamba-2
    (Dao and Gu 2024).
    """

    kind: RecurrentKind
    layers: tuple[int, ...]  # the indices of the layers that have it
    num_heads: int  # heads; of a short convolution its channels
    head_dim: int  # width of a head's values
    num_groups: int = 0  # heads of the keys: in Mamba-2 the groups of B and C
    state_dim: int = 0  # width of a key; 0 where the convolution's state is all
    kernel: int = 4  # tokens that the convolution sees
    normed: bool = True  # whether Mamba-2 norms its gated output with weights
    conv_bias: bool = False
    bias: bool = False  # whether the projections have biases


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerInputs:
    """What each layer of Gemma 3n (2025) has beside attention and feed-forward."""

    width: int  # of the token's own input to each layer
    vocab_size: int  # rows of the table in which it is looked up
    num_streams: int  # copies of the residual stream (AltUp, Baykal et al. 2023)
    rank: int  # of the low-rank residual (Laurel, Menghani et al. 2024)


@dataclass(frozen=True, kw_only=True, slots=True)
class Beyond:
    """Parameters of a published file that are no part of the text model."""

    reason: str  # a key of `core.budget.weights.published.REASONS`
    num_params: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpec:
    """A decoder-only language model.

    Attributes:
        gated: Whether the feed-forward layer has a gate (SwiGLU, GeGLU): three matrices, not two.
        sinks: Whether each query head has a learned logit that only its softmax sees (gpt-oss).
        window: Sliding window in tokens; None if every layer sees the whole context.
        chunked: Whether a window is a chunk (Llama 4): a token sees from its chunk's start on.
        latent: The latent attention, if it has that; then `num_kv_heads` plays no part.
        without_ffn: Indices of the layers that have neither feed-forward nor experts.
        num_kv_shared_layers: Last layers that read the keys and values of an earlier one and keep
            none; their matrices are in the published files (Gemma 3n).
        num_mtp_layers: Blocks that predict further tokens in training; published beside the model
            and not counted in it.
        published: Parameters as published or as counted from the published weights; 0 if unknown.
        quantized: Format of `core.dtypes` in which its makers publish its matrices; "" where they
            have 16 bits or more, or are stored in another way.
        not_counted: Fields of its config.json that change what is counted and were not understood.

    Raises:
        ValueError: If a number cannot be; the sentence names it.
    """

    name: str  # as its makers write it: "Llama-2 7B"
    num_layers: int  # blocks, each attention then feed-forward if nothing else is said
    hidden_dim: int  # width of the residual stream
    num_heads: int
    num_kv_heads: int  # key and value heads: as many as queries is MHA, fewer GQA, one MQA
    head_dim: int  # width of one head; not always hidden_dim / num_heads
    ffn_dim: int  # inner width of the dense feed-forward layer
    vocab_size: int  # tokens that the model can read and say
    seq_len: int  # longest context that it was made for, in tokens
    tied: bool = False  # whether the head is the token embedding; it then counts once
    gated: bool = True
    norm: Norm = "rms"  # "rms" has one weight a channel; "layer" has a bias too if `norm_bias`
    norm_bias: bool = False
    norms_per_layer: int = 2  # 2, or 4 where sub-layers are normed on both sides (Gemma 2)
    attention_bias: Bias = "none"
    ffn_bias: bool = False
    qk_norm: bool = False  # whether queries and keys pass an RMSNorm with weights
    qk_norm_over: NormedWidth = "head"  # over one head, or over all heads together (OLMo 2)
    sinks: bool = False
    learned_positions: int = 0  # rows of the learned position table; 0 with rotary positions
    window: int | None = None
    num_windowed_layers: int = 0
    chunked: bool = False
    mixture: Mixture | None = None
    latent: LatentAttention | None = None
    indexer: Indexer | None = None  # what picks the tokens of latent attention, if anything does
    attention_gate: bool = False  # whether a gate as wide as the queries weighs attention's output
    num_activation_params: int = 0  # trained numbers of each activation (xIELU has two)
    without_attention: tuple[int, ...] = ()  # indices of the layers that have no attention
    without_ffn: tuple[int, ...] = ()
    recurrent: Recurrent | None = None  # what keeps a fixed state in some layers, if anything does
    num_kv_shared_layers: int = 0
    num_kv_shared_windowed: int = 0  # how many of those have the window
    layer_inputs: LayerInputs | None = None  # what Gemma 3n adds to each layer
    num_mtp_layers: int = 0
    published: int = 0
    beyond: tuple[Beyond, ...] = ()  # those of them that are no part of the text model
    quantized: str = ""
    maker: str = ""
    source: str = ""
    guessed: bool = False  # whether the layout was guessed: nothing counted of it is exact
    not_counted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            _check_range(name, getattr(self, name), 1)
        for name in _NOT_NEGATIVE:
            _check_range(name, getattr(self, name), 0)
        _check_layers(self)
        _check_parts(self)

    @property
    def num_attention_layers(self) -> int:
        """Layers with attention."""
        return self.num_layers - len(self.without_attention)

    @property
    def num_dense_layers(self) -> int:
        """Layers with a dense feed-forward layer."""
        if self.mixture is None:
            return self.num_layers - len(self.without_ffn)
        return self.mixture.num_dense_layers

    @property
    def num_expert_layers(self) -> int:
        """Layers with experts."""
        return self.num_layers - len(self.without_ffn) - self.num_dense_layers

    @property
    def is_plain(self) -> bool:
        """Whether each layer is attention, then feed-forward or experts, and nothing beside."""
        beside = self.recurrent or self.layer_inputs or self.attention_gate
        trained = self.num_activation_params or (self.mixture and self.mixture.shared_gate)
        return not (beside or trained or self.without_attention or self.without_ffn)

    def expert_layers_before(self, index: int) -> int:
        """Return how many of the first `index` layers have experts."""
        if self.mixture is not None and self.mixture.alternating:
            return index * self.num_expert_layers // self.num_layers
        return max(0, index - num_before(self.without_ffn, index) - self.num_dense_layers)


def num_before(layers: tuple[int, ...], index: int) -> int:
    """Return how many of these layers are among the first `index`."""
    return sum(layer < index for layer in layers)


@dataclass(frozen=True, kw_only=True, slots=True)
class GPTShape:
    """The sizes of a GPT-2-like decoder.

    Raises:
        ValueError: If a number is below 1 or the heads do not divide the width.
    """

    num_layers: int  # blocks, each attention then feed-forward
    hidden_dim: int  # width of the residual stream; a multiple of `num_heads`
    num_heads: int  # attention heads
    vocab_size: int  # tokens that the model can read and say
    seq_len: int  # context length: the longest text that it sees at once, in tokens

    def __post_init__(self) -> None:
        for name in ("num_layers", "hidden_dim", "num_heads", "vocab_size", "seq_len"):
            value = getattr(self, name)
            if value < 1:
                raise ValueError(
                    _("{name} is {value}; it must be at least 1.").format(name=name, value=value)
                )
        if self.hidden_dim % self.num_heads:
            raise ValueError(
                _(
                    "hidden_dim {width} cannot be shared by {heads} heads; "
                    "choose a width that is a multiple of {heads}."
                ).format(width=self.hidden_dim, heads=self.num_heads)
            )

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.hidden_dim // self.num_heads

    @property
    def ffn_dim(self) -> int:
        """Width inside the feed-forward layer: four times the residual stream, as in GPT-2."""
        return 4 * self.hidden_dim


def _check_range(name: str, value: int, low: int) -> None:
    if not low <= value <= MAX_SIZE:
        raise ValueError(
            _("{name} is {value}; it must lie between {low} and {high}.").format(
                name=name, value=value, low=low, high=f"{MAX_SIZE:,}"
            )
        )


def _check_parts(spec: ModelSpec) -> None:
    if spec.num_heads % spec.num_kv_heads:
        raise ValueError(
            _(
                "num_kv_heads is {kv}, which does not divide num_heads {heads}: every key head "
                "serves the same number of query heads."
            ).format(kv=spec.num_kv_heads, heads=spec.num_heads)
        )
    if spec.window is not None:
        _check_range("window", spec.window, 1)
    for name in ("num_windowed_layers", "num_kv_shared_layers"):
        if getattr(spec, name) > spec.num_attention_layers:
            _refuse_more(name, getattr(spec, name), spec.num_attention_layers)
    if spec.mixture is not None:
        _check_mixture(spec.mixture, spec.num_layers - len(spec.without_ffn))
    for name, low in _LATENT.items() if spec.latent else ():
        _check_range(name, getattr(spec.latent, name), low)
    if spec.indexer is not None:
        _check_indexer(spec.indexer, spec.latent)


def _check_layers(spec: ModelSpec) -> None:
    recurrent, inputs = spec.recurrent, spec.layer_inputs
    for name, low in _RECURRENT.items() if recurrent else ():
        _check_range(name, getattr(recurrent, name), low)
    for name in _LAYER_INPUTS if inputs else ():
        _check_range(name, getattr(inputs, name), 1)
    for name, layers in (
        ("without_attention", spec.without_attention),
        ("without_ffn", spec.without_ffn),
        ("layers", recurrent.layers if recurrent else ()),
    ):
        if layers and not 0 <= min(layers) <= max(layers) < spec.num_layers:
            _refuse_more(name, max(layers) + 1, spec.num_layers)


def _check_mixture(mixture: Mixture, num_layers: int) -> None:
    for name in _MIXTURE:
        _check_range(name, getattr(mixture, name), 1)
    _check_range("num_shared", mixture.num_shared, 0)
    _check_range("num_dense_layers", mixture.num_dense_layers, 0)
    if mixture.experts_per_token > mixture.num_experts:
        _refuse_more("experts_per_token", mixture.experts_per_token, mixture.num_experts)
    if mixture.num_dense_layers > num_layers:
        _refuse_more("num_dense_layers", mixture.num_dense_layers, num_layers)


def _check_indexer(indexer: Indexer, latent: LatentAttention | None) -> None:
    for name in _INDEXER:
        _check_range(name, getattr(indexer, name), 1)
    if latent is None or not latent.query_rank:
        raise ValueError(
            _("An indexer reads the compressed queries of latent attention: it needs a query_rank.")
        )


def _refuse_more(name: str, value: int, most: int) -> None:
    raise ValueError(
        _("{name} is {value}; there are only {most}.").format(name=name, value=value, most=most)
    )
