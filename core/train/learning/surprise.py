"""How surprised a model was by what it wrote itself, and what else it held likely.

A surprise is -log2 p at temperature 1, in bits: what the model thought of a token, whatever
temperature it was drawn with. Tokens that only together are characters add up.
"""

import codecs
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from core.train.text.pieces import vocabulary_signs
from core.train.text.tokenizers import Tokenizer

NUM_CANDIDATES: Final = 5
_DIGITS: Final = 3  # of what is stored: a thousandth of a bit, a tenth of a percent

Candidates = tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """The shortest stretch of a text that consists of whole tokens and of whole characters.

    `candidates` are, for each token, what was likeliest in its place, with its chance.
    """

    text: str
    bits: float
    candidates: tuple[Candidates, ...]

    def to_json(self) -> list[Any]:
        """Return text, bits and candidates as a sample event holds them."""
        shown = [[[sign, chance] for sign, chance in each] for each in self.candidates]
        return [self.text, self.bits, shown]


def written_with_surprise(
    tokenizer: Tokenizer, token_ids: Sequence[int], logits: Sequence[Tensor]
) -> tuple[Written, ...]:
    """Return the text of the tokens in stretches, with the surprise of each.

    `logits`: (V,) for each of them: the scores from which it was drawn.
    """
    if not token_ids:
        return ()
    # As the drawing of tokens does it: a model that is broken still has chances.
    scores = torch.stack(list(logits)).float().cpu().nan_to_num(0.0, 0.0, 0.0)
    surprises = -scores.log_softmax(dim=1) / math.log(2)  # (num_tokens, V)
    bits = surprises.gather(1, torch.tensor(token_ids)[:, None])[:, 0].tolist()
    least = surprises.topk(min(NUM_CANDIDATES, surprises.shape[1]), dim=1, largest=False)
    candidates = [
        tuple(zip(vocabulary_signs(tokenizer, ids), chances, strict=True))
        for ids, chances in zip(least.indices.tolist(), _chances(least.values), strict=True)
    ]
    return tuple(
        Written(
            text=text,
            bits=round(sum(bits[start:end]), _DIGITS),
            candidates=tuple(candidates[start:end]),
        )
        for text, start, end in stretches(tokenizer, token_ids)
    )


def _chances(surprises: Tensor) -> list[list[float]]:
    return [[round(chance, _DIGITS) for chance in row] for row in torch.exp2(-surprises).tolist()]


def stretches(tokenizer: Tokenizer, token_ids: Sequence[int]) -> Iterator[tuple[str, int, int]]:
    """Yield text, first token and end of each stretch; the texts together are the whole text.

    Bytes that are no UTF-8 become the replacement character, as in `Tokenizer.decode`.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    text, start = "", 0
    for place, token_id in enumerate(token_ids):
        raw = tokenizer.raw(token_id)
        text += decoder.decode(raw)
        waiting, _flags = decoder.getstate()
        if not waiting:
            yield text, start, place + 1
            text, start = "", place + 1
        elif text and waiting == raw:  # the token begins a character: what was before it is whole
            yield text, start, place
            text, start = "", place
    text += decoder.decode(b"", final=True)
    if start < len(token_ids):
        yield text, start, len(token_ids)
