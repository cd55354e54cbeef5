"""One forward pass, and what each module of it was given and gave back.

Hooks would fire for every reader who uses the same model at that moment; so they are put on a copy
of the modules, which shares the weights.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from einops import rearrange
from torch import Tensor, nn

from core.language import _
from core.models.attention import GroupedAttention, rotate
from core.models.build import Decoder
from core.models.gpt import GPT
from core.models.kernels import KERNELS

Model = GPT | Decoder
TokenIds = Sequence[int] | Tensor  # (T,) or (B, T)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """What passed the modules.

    Attributes:
        model: A copy of the model, of the same weights, in evaluation mode.
        token_ids: (B, T).
        logits: (B, T, V), the result.
        arguments: Name of a module -> what it was called with.
        outputs: Name of a module -> what it gave back.
    """

    model: Model
    token_ids: Tensor
    logits: Tensor
    arguments: dict[str, tuple[Any, ...]]
    outputs: dict[str, Tensor]

    def given(self, module: str) -> Tensor:
        """Return the tensor that a module was given."""
        tensor: Tensor = self.arguments[module][0]
        return tensor

    def residuals(self) -> list[Tensor]:
        """Return the residual stream after the embedding and after each block; each (B, T, C)."""
        num_blocks = len(self.model.blocks)
        return [self.given(f"blocks.{i}") for i in range(num_blocks)] + [self.given("norm")]

    def attended(self, layer: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return the q, k and v that attention read in a layer, after norms and rotation.

        q is (B, H, T, D); k and v are (B, K, T, D).
        """
        name = f"blocks.{layer}.attention"
        attention = self.model.get_submodule(name)
        if isinstance(attention, GroupedAttention):
            rotary = self.arguments[name][1]
            q, k = (rotate(self.outputs[f"{name}.{letter}_norm"], rotary) for letter in "qk")
            v = self.outputs[f"{name}.v"]
            return q, k, rearrange(v, "B T (K D) -> B K T D", D=attention.head_dim)
        q, k, v = rearrange(
            self.outputs[f"{name}.qkv"],
            "B T (three H D) -> three B H T D",
            three=3,
            H=attention.num_heads,
        )
        return q, k, v


@torch.no_grad()
def record(model: nn.Module, token_ids: TokenIds) -> Recording:
    """Run a model once and return what passed its modules.

    Args:
        model: A GPT, or a dense Decoder of the profile "cpu".
        token_ids: (T,) or (B, T).

    Raises:
        ValueError: If the model is another one, or has no row for a token id.
    """
    known = _checked(model)
    ids = torch.as_tensor(token_ids, device=known.tokens.weight.device)
    ids = ids if ids.dim() == 2 else ids.unsqueeze(0)
    _check_ids(known, ids)
    shared = {id(each): each for each in (*known.parameters(), *known.buffers())}
    own = copy.deepcopy(known, shared).eval()
    arguments: dict[str, tuple[Any, ...]] = {}
    outputs: dict[str, Tensor] = {}
    for name, module in own.named_modules():
        module.register_forward_hook(partial(_keep, name, arguments, outputs))
    logits = own.logits(ids)
    return Recording(model=own, token_ids=ids, logits=logits, arguments=arguments, outputs=outputs)


def _keep(
    name: str,
    arguments: dict[str, tuple[Any, ...]],
    outputs: dict[str, Tensor],
    *call: Any,  # noqa: ANN401  module, what it was given, what it gave back
) -> None:
    _module, arguments[name], outputs[name] = call


def _checked(model: nn.Module) -> Model:
    if isinstance(model, GPT):
        return model
    if not isinstance(model, Decoder):
        raise ValueError(  # noqa: TRY004  a reader can cause it
            _("A {kind} is not taken apart here; pass a GPT or a Decoder.").format(
                kind=type(model).__name__
            )
        )
    if model.spec.latent is not None or model.spec.mixture is not None:
        raise ValueError(
            _("{model} has latent attention or experts; only dense models are taken apart.").format(
                model=model.spec.name
            )
        )
    if model.spec.sinks or model.spec.qk_norm_over == "all heads":
        raise ValueError(
            _("{model} has attention sinks or norms all heads at once; these are not taken apart.")
            .format(model=model.spec.name)
        )  # fmt: skip
    if any(each.kernels != KERNELS["cpu"] for each in _attentions(model)):
        raise ValueError(_('Only the kernels "cpu" compute values; build the model with them.'))
    return model


def _attentions(model: Decoder) -> list[GroupedAttention]:
    return [each for each in model.modules() if isinstance(each, GroupedAttention)]


def _check_ids(model: Model, token_ids: Tensor) -> None:
    if not token_ids.numel():
        raise ValueError(_("There is no token; give the model at least one."))
    low, high = int(token_ids.min()), int(token_ids.max())
    vocab_size = model.tokens.num_embeddings
    if not 0 <= low <= high < vocab_size:
        raise ValueError(
            _("Token {id} is not in the vocabulary; ids lie between 0 and {last}.").format(
                id=low if low < 0 else high, last=vocab_size - 1
            )
        )
    num_tokens = token_ids.shape[1]
    if model.positions is not None and num_tokens > (most := model.positions.num_embeddings):
        raise ValueError(
            _("{count} tokens do not fit into a context of {most}; give at most {most}.").format(
                count=num_tokens, most=most
            )
        )
