"""Any model of the catalogue as a torch module, on meta unless told otherwise.

On meta a model of 405 billion parameters takes no memory: every tensor has a shape, none has data.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  the field's own name
from torch.utils.checkpoint import checkpoint

from core.language import _
from core.models.attention import GroupedAttention, LatentMixer, Rotary, make_norm, rotary_angles
from core.models.feed_forward import FeedForward, MixtureOfExperts, SwiGLU
from core.models.kernels import KERNELS, Kernels
from core.models.spec import ModelSpec


class Block(nn.Module):
    """One layer: attention, then feed-forward, each normed before (Gemma 2: and after)."""

    def __init__(self, spec: ModelSpec, index: int, kernels: Kernels) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = make_norm(spec, kernels), make_norm(spec, kernels)
        both_sides = spec.norms_per_layer == 4
        self.after_1 = make_norm(spec, kernels) if both_sides else nn.Identity()
        self.after_2 = make_norm(spec, kernels) if both_sides else nn.Identity()
        mixer = GroupedAttention if spec.latent is None else LatentMixer
        self.attention = mixer(spec, kernels)
        self.feed_forward = _feed_forward(spec, index, kernels)
        self.dropout = kernels.dropout

    def forward(self, x: Tensor, rotary: Rotary | None) -> Tensor:
        """Return the residual stream after this layer; (B, T, C) in and out."""
        x = x + self.dropout(self.after_1(self.attention(self.norm_1(x), rotary)))
        result: Tensor = x + self.dropout(self.after_2(self.feed_forward(self.norm_2(x))))
        return result


def _feed_forward(spec: ModelSpec, index: int, kernels: Kernels) -> nn.Module:
    has_experts = spec.expert_layers_before(index + 1) > spec.expert_layers_before(index)
    if spec.mixture is not None and has_experts:
        return MixtureOfExperts(spec.hidden_dim, spec.mixture, kernels)
    kind = SwiGLU if spec.gated else FeedForward
    return kind(spec.hidden_dim, spec.ffn_dim, kernels, bias=spec.ffn_bias)


class Decoder(nn.Module):
    """The whole model: token ids in; hidden states, logits or the mean loss out."""

    def __init__(self, spec: ModelSpec, kernels: Kernels) -> None:
        super().__init__()
        self.spec = spec
        self.tokens = nn.Embedding(spec.vocab_size, spec.hidden_dim)
        rows = spec.learned_positions
        self.positions = nn.Embedding(rows, spec.hidden_dim) if rows else None
        self.blocks = nn.ModuleList(Block(spec, i, kernels) for i in range(spec.num_layers))
        self.norm = make_norm(spec, kernels)
        self.head = nn.Linear(spec.hidden_dim, spec.vocab_size, bias=False)
        if spec.tied:
            self.head.weight = self.tokens.weight

    def embed(self, token_ids: Tensor) -> tuple[Tensor, Rotary | None]:
        """Return what the first block reads: (B, T) ids to (B, T, C), and the rotary angles."""
        x: Tensor = self.tokens(token_ids)
        num_tokens = token_ids.shape[1]
        if self.positions is not None:
            return x + self.positions(torch.arange(num_tokens, device=x.device)), None
        latent = self.spec.latent
        width = self.spec.head_dim if latent is None else latent.rope_dim
        return x, rotary_angles(num_tokens, width, x)

    def hidden(self, token_ids: Tensor) -> Tensor:
        """Return what the head reads: (B, T) ids to (B, T, C)."""
        x, rotary = self.embed(token_ids)
        for block in self.blocks:
            x = block(x, rotary)
        normed: Tensor = self.norm(x)
        return normed

    def logits(self, token_ids: Tensor) -> Tensor:
        """Return the scores of every next token: (B, T) ids to (B, T, V)."""
        scores: Tensor = self.head(self.hidden(token_ids))
        return scores

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Return the sum of the cross-entropy in nats: (N, C) and (N,) to one number."""
        return F.cross_entropy(self.head(hidden).float(), targets, reduction="sum")

    def forward(self, token_ids: Tensor, targets: Tensor, num_chunks: int = 1) -> Tensor:
        """Return the mean cross-entropy in nats; both inputs are (B, T) token ids.

        With several chunks of tokens, the logits of one live at a time and are computed again in
        the backward pass.
        """
        hidden, labels = self.hidden(token_ids).flatten(0, 1), targets.flatten()
        if num_chunks == 1:
            return self.loss(hidden, labels) / labels.numel()
        pieces = zip(hidden.chunk(num_chunks), labels.chunk(num_chunks), strict=True)
        losses = [
            checkpoint(self.loss, *piece, use_reentrant=False, preserve_rng_state=False)
            for piece in pieces
        ]
        return sum(losses, start=labels.new_zeros((), dtype=torch.float32)) / labels.numel()


def build_model(
    spec: ModelSpec,
    profile: str = "fused",
    *,
    dtype: torch.dtype = torch.float32,
    device: str = "meta",
) -> Decoder:
    """Return the model; its parameters are exactly those of `core.budget.weights.parameters`.

    Args:
        spec: The architecture.
        profile: A row of `core.models.kernels.KERNELS`.
        dtype: Of every parameter.
        device: "meta" has shapes without data; the fused profiles run only there.

    Raises:
        ValueError: If some layer is not attention followed by a feed-forward layer.
    """
    if not spec.is_plain:
        raise ValueError(
            _(
                "{model} has layers other than attention and feed-forward, which are not built "
                "here."
            ).format(model=spec.name)
        )
    with torch.device(device):
        return Decoder(spec, KERNELS[profile]).to(dtype)
