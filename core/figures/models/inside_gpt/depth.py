"""What a model would say after each of its blocks, token by token."""

from collections.abc import Sequence
from typing import Final

from core.language import _
from core.models.depth import Depth
from core.units import format_percent

SMALLEST: Final = 1e-4  # probability that is written out


def row_names(num_rows: int) -> list[str]:
    """Return after what each row comes: the embedding, then each block.

    >>> row_names(3)
    ['embedding', 'block 1', 'block 2']
    """
    blocks = [_("block {number}").format(number=number) for number in range(1, num_rows)]
    return [_("embedding"), *blocks]


def chance_text(chance: float) -> str:
    """Return a probability with three digits; one that no bar shows is only bounded.

    >>> chance_text(0.254), chance_text(3e-7)
    ('25.4 %', '< 0.01 %')
    """
    return format_percent(chance) if chance >= SMALLEST else f"< {format_percent(SMALLEST)}"


def depth_alt(inside: Depth, pieces: Sequence[str], said: Sequence[Sequence[str]]) -> str:
    """Return the picture as a sentence."""
    steps = _(", ").join(
        _("{row}: {token} {share}").format(
            row=name, token=row[-1], share=chance_text(float(inside.chances[number, -1, 0]))
        )
        for number, (name, row) in enumerate(zip(row_names(len(said)), said, strict=True))
    )
    message = _(
        "The likeliest next token after each of {count} tokens. After the last one, {steps}."
    )
    return message.format(count=len(pieces), steps=steps)


def depth_table(
    inside: Depth, pieces: Sequence[str], said: Sequence[Sequence[str]]
) -> dict[str, list[object]]:
    """Return a row a token: what would come next, and how likely, after each block."""
    table: dict[str, list[object]] = {_("token"): list(pieces)}
    for number, (name, row) in enumerate(zip(row_names(len(said)), said, strict=True)):
        shares = inside.chances[number, :, 0].tolist()
        table[name] = [
            f"{token} {chance_text(share)}" for token, share in zip(row, shares, strict=True)
        ]
    return table
