"""The loss before the first step: what the spread of a tied embedding does to it.

A head that is tied to the token embedding compares the last hidden state, whose channels have a
variance of 1, with every row of the embedding. The spread of the logits is therefore that of the
rows times sqrt(width), and a row that also went in at the bottom gives a larger one still.

Shape letters: B batch, T tokens, C hidden width, V vocabulary.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.language import N_, _
from core.models.chance import alone_with_chance
from core.models.gpt import GPT, INIT_STD, Block
from core.models.spec import GPTShape

# Key in an address -> what the rows of the tied embedding are drawn from.
INITS: Final[Mapping[str, str]] = {
    "gpt2": N_("N(0, 0.02), as GPT-2"),
    "normal": N_("N(0, 1), as nn.Embedding"),
}
STDS: Final = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
MAX_TOKENS: Final = 64
GPT2_INITS: Final = ("gpt2", "normal")
GPT2_TOKENS: Final = 32
GPT2_SMALL: Final = GPTShape(
    num_layers=12, hidden_dim=768, num_heads=12, vocab_size=50_257, seq_len=1024
)


def make_fresh(shape: GPTShape, seed: int = 0, init: str = "gpt2") -> GPT:
    """Return a model that has learned nothing; the same seed gives the same weights.

    Raises:
        ValueError: If `init` is no key of `INITS`.
    """
    if init not in INITS:
        raise ValueError(
            _("There is no initialisation {init!r}; choose {known}.").format(
                init=init, known=_(", ").join(INITS)
            )
        )
    with alone_with_chance(seed):
        model = GPT(shape)
        if init == "normal":
            _as_torch_does(model)
    return model.eval()


def _as_torch_does(module: nn.Module) -> None:
    """Draw every weight as its module of torch does; the tied embedding is drawn last."""
    modules = list(module.modules())
    for linear in (each for each in modules if isinstance(each, nn.Linear)):
        linear.reset_parameters()
    for embedding in (each for each in reversed(modules) if isinstance(each, nn.Embedding)):
        embedding.reset_parameters()


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstLoss:
    """What an untrained model does with a text."""

    std: float  # of the rows of the tied embedding, as measured
    loss: float  # mean cross-entropy in nats per token
    logit_std: float  # spread of all logits
    own_logit: float  # mean logit of the very token that was read


@torch.no_grad()
def first_loss(model: GPT, token_ids: Tensor, targets: Tensor) -> FirstLoss:
    """Return the first loss of a model on (B, T) ids and the ids that follow them."""
    return _measured(model.tokens.weight, model.logits(token_ids), token_ids, targets)


def spread_losses(shape: GPTShape, token_ids: Tensor, targets: Tensor) -> tuple[FirstLoss, ...]:
    """Return the first loss of one model whose tied embedding is drawn ever wider.

    All else stays as GPT-2 has it, the seed too, so that only the spread differs.
    """
    model = make_fresh(shape)
    rows = model.tokens.weight.detach() / INIT_STD
    losses = []
    for std in STDS:
        with torch.no_grad():
            model.tokens.weight.copy_(rows * std)
        losses.append(first_loss(model, token_ids, targets))
    return tuple(losses)


@torch.no_grad()
def first_loss_by_blocks(
    shape: GPTShape,
    num_tokens: int,
    *,
    init: str,
    seed: int = 0,
    tell: Callable[[], None] = lambda: None,
) -> FirstLoss:
    """Return the first loss of a model of which one block at a time is in memory.

    Blocks are drawn, used and forgotten: GPT-2 small needs 180 MB this way, and not 500.

    Args:
        shape: The sizes.
        num_tokens: Length of the random text that it reads.
        init: A key of `INITS`.
        seed: Of the weights and the text.
        tell: Called after each block.
    """
    chance = torch.Generator().manual_seed(seed)
    text = torch.randint(shape.vocab_size, (1, num_tokens + 1), generator=chance)
    std = INIT_STD if init == "gpt2" else 1.0
    tokens = torch.empty(shape.vocab_size, shape.hidden_dim).normal_(0, std, generator=chance)
    positions = torch.empty(num_tokens, shape.hidden_dim).normal_(0, std, generator=chance)
    x = tokens[text[:, :-1]] + positions  # (1, T, C)
    for layer in range(shape.num_layers):
        x = _fresh_block(shape, init, seed + layer)(x)
        tell()
    hidden = F.layer_norm(x, (shape.hidden_dim,))
    return _measured(tokens, hidden @ tokens.T, text[:, :-1], text[:, 1:])


def _fresh_block(shape: GPTShape, init: str, seed: int) -> Block:
    with alone_with_chance(seed):
        block = Block(shape, attention_in_fp32=False)  # as torch draws it
        if init == "gpt2":
            residual_std = INIT_STD / math.sqrt(2 * shape.num_layers)
            for name, weight in block.named_parameters():
                if weight.dim() == 2:
                    std = residual_std if name.endswith("out.weight") else INIT_STD
                    nn.init.normal_(weight, mean=0.0, std=std)
    return block.eval()


def _measured(rows: Tensor, logits: Tensor, token_ids: Tensor, targets: Tensor) -> FirstLoss:
    own = logits.gather(-1, token_ids.unsqueeze(-1))
    loss = F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
    return FirstLoss(
        std=rows.std().item(),
        loss=loss.item(),
        logit_std=logits.std().item(),
        own_logit=own.mean().item(),
    )


def first_loss_on_random_text(shape: GPTShape) -> tuple[FirstLoss, ...]:
    """Return the first loss at each of `STDS`, on one random text of at most 64 tokens."""
    chance = torch.Generator().manual_seed(0)
    length = min(shape.seq_len, MAX_TOKENS)
    text = torch.randint(shape.vocab_size, (1, length + 1), generator=chance)
    return spread_losses(shape, text[:, :-1], text[:, 1:])


def first_loss_of_gpt2(
    tell: Callable[[float], None] = lambda _share: None,
) -> tuple[FirstLoss, ...]:
    """Return the first loss of GPT-2 small for each of `GPT2_INITS`, told the share done."""
    num_parts = len(GPT2_INITS) * GPT2_SMALL.num_layers
    done = count(1)

    def tell_share() -> None:
        tell(next(done) / num_parts)

    return tuple(
        first_loss_by_blocks(GPT2_SMALL, GPT2_TOKENS, init=init, tell=tell_share)
        for init in GPT2_INITS
    )
