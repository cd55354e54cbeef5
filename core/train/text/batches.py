"""What one training step reads: windows of the text, and the same windows one token later."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.budget import Formula, Item
from core.budget.item import item
from core.language import _
from core.train.text.tokenizers import Piece, Tokenizer, Tokens, pieces_of

_TARGETS: Final = Formula("batch_size * seq_len")
_STARTS: Final = Formula("num_tokens - seq_len")


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """One row of a batch: T + 1 tokens; inputs are all but the last, targets all but the first."""

    start: int
    pieces: tuple[Piece, ...]

    @property
    def inputs(self) -> tuple[Piece, ...]:
        """The T tokens that the model is given."""
        return self.pieces[:-1]

    @property
    def targets(self) -> tuple[Piece, ...]:
        """The T tokens that it is to predict: at each place the next one."""
        return self.pieces[1:]


def num_starts(num_tokens: int, seq_len: int) -> int:
    """Return how many windows of T inputs and their targets a text has: N - T."""
    if seq_len < 1 or num_tokens <= seq_len:
        raise ValueError(
            _(
                "The text has {count:,} tokens; a window of {length:,} inputs and their targets "
                "takes {need:,}. Use a longer text or a shorter context."
            ).format(count=num_tokens, length=seq_len, need=seq_len + 1)
        )
    return num_tokens - seq_len


def draw_starts(num_tokens: int, seq_len: int, batch_size: int, seed: int) -> tuple[int, ...]:
    """Return where the rows of a batch begin, drawn as nanoGPT's get_batch draws them.

    That is torch.randint(N - T, (B,)): a start below N - T leaves room for the target of the last
    input, so the text's last token is a target, never an input.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    highest = num_starts(num_tokens, seq_len)
    return tuple(torch.randint(highest, (batch_size,), generator=generator).tolist())


def explain_batch(
    tokens: Tokens, tokenizer: Tokenizer, starts: Sequence[int], seq_len: int
) -> tuple[Window, ...]:
    """Return the rows of a batch, token by token: T inputs and their targets from each start."""
    rows = ((start, tokens[start : start + seq_len + 1].tolist()) for start in starts)
    return tuple(Window(start=start, pieces=pieces_of(tokenizer, ids)) for start, ids in rows)


def step_items(num_tokens: int, seq_len: int, batch_size: int) -> tuple[Item, Item]:
    """Return the tokens that a step learns to predict, and the windows it may draw from."""
    num_starts(num_tokens, seq_len)
    values = {"batch_size": batch_size, "seq_len": seq_len, "num_tokens": num_tokens}
    source = "nanoGPT, train.py: get_batch"
    return (
        item("targets", _TARGETS, values, unit="tokens", source=source, kind="exact"),
        item("starts", _STARTS, values, unit="count", source=source, kind="exact"),
    )
