"""How a model writes: a token at a time, each drawn from the chances that the model gives it.

A token is chosen from the last `seq_len` before it. While that is the whole text, a KV cache leaves
only the newest to compute. Once the window slides, each token in it has a new position, and all of
it is computed again.

Shape letters: B batch, T tokens, V vocabulary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.language import _
from core.models.gpt import GPT
from core.models.kv_cache import KVCache
from core.models.llama import Llama
from core.models.spec import GPTShape


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratedToken:
    """A token that the model wrote."""

    id: int
    logits: Tensor  # (V,) the scores of every token
    chances: Tensor  # (V,) what it was drawn from
    num_computed: int  # tokens that passed the model for it: one where the rest lay in the cache
    num_seen: int  # tokens that it was chosen from
    cache_bytes: int  # what the KV cache holds afterwards; 0 without one
    flops: int  # of the matrix products


def next_token_chances(logits: Tensor, temperature: float = 1.0, top_k: int = 0) -> Tensor:
    """Return the chance of every next token, (V,) scores to (V,) numbers that sum to 1.

    Args:
        logits: The scores.
        temperature: Divides them: below 1 the likely become likelier, and 0 leaves only the best.
        top_k: How many of the best may be drawn (Fan et al. 2018); 0 for all. Equal scores at the
            border all stay.

    Raises:
        ValueError: If the temperature is negative, or there are fewer than `top_k` tokens.
    """
    if not 0 <= temperature < float("inf"):
        raise ValueError(
            _("The temperature is {value}; it must be 0 or a positive number.").format(
                value=temperature
            )
        )
    if not 0 <= top_k <= len(logits):
        raise ValueError(
            _("top_k is {value}; choose 0 for all tokens, or at most {most}.").format(
                value=top_k, most=len(logits)
            )
        )
    if temperature == 0:
        best = torch.zeros(len(logits))
        best[logits.argmax().cpu()] = 1
        return best
    scores = (logits.float().cpu() / temperature).nan_to_num(0.0, 0.0, 0.0)
    if top_k:
        scores = scores.masked_fill(scores < scores.topk(top_k).values[-1], float("-inf"))
    return scores.softmax(dim=0)


@torch.no_grad()
def generate(  # noqa: PLR0913  what a reader may choose
    model: GPT | Llama,
    prompt: Sequence[int],
    num_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int = 0,
    seed: int = 0,
    use_cache: bool = True,
) -> Iterator[GeneratedToken]:
    """Yield `num_tokens` tokens that follow the prompt; the same seed draws the same ones.

    Draws from a generator of its own, so that who trains sees the same numbers with or without it.

    Args:
        model: In the mode that it shall write in.
        prompt: At least one token id.
        num_tokens: How many to write.
        temperature: As of `next_token_chances`; 0 is greedy decoding.
        top_k: As of `next_token_chances`.
        seed: Of the draws.
        use_cache: Whether keys and values of what was read are kept.

    Raises:
        ValueError: If the prompt is empty.
    """
    if not prompt:
        raise ValueError(_("The prompt is empty; give the model at least one token to go on from."))
    device, seq_len = next(model.parameters()).device, model.shape.seq_len
    chance = torch.Generator().manual_seed(seed)
    token_ids = list(prompt)
    cache = KVCache()
    for _index in range(num_tokens):
        if len(token_ids) > seq_len or not use_cache:
            cache = KVCache()
        window = token_ids[-seq_len:]
        unread = window[cache.num_tokens :]
        logits = model.logits(torch.tensor([unread], device=device), cache)[0, -1]
        chances = next_token_chances(logits, temperature, top_k)
        token_ids.append(int(torch.multinomial(chances, 1, generator=chance)))
        yield GeneratedToken(
            id=token_ids[-1],
            logits=logits,
            chances=chances,
            num_computed=len(unread),
            num_seen=len(window),
            cache_bytes=cache.num_bytes if use_cache else 0,
            flops=forward_flops(model.shape, len(unread), len(window)),
        )


def forward_flops(shape: GPTShape, num_new: int, num_tokens: int) -> int:
    """Return the FLOPs of the matrix products when the last `num_new` of `num_tokens` are computed.

    Scores are counted in full, those that the mask hides too, as nanoGPT and torch's own counter
    count them.
    """
    width = shape.hidden_dim
    in_block = 3 * width * width + width * width + 2 * width * shape.ffn_dim  # qkv, out, up, down
    matrices = shape.num_layers * in_block + width * shape.vocab_size
    look = shape.num_layers * 2 * num_tokens * width  # q k^T and the mix of v
    return 2 * num_new * (matrices + look)
