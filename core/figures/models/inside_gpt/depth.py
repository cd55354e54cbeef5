"""What a model would say after each of its blocks, token by token."""

from collections.abc import Sequence

from core.language import _
from core.models.depth import Depth
from core.units import format_percent


def row_names(num_rows: int) -> list[str]:
    """Return what the rows are called: the embedding, then a row a block; the last is the output.

    >>> row_names(3)
    ['embedding', 'block 1', 'block 2 = output']
    """
    blocks = [_("block {number}").format(number=number) for number in range(1, num_rows)]
    last = [_("{block} = output").format(block=blocks[-1])] if blocks else []
    return [_("embedding"), *blocks[:-1], *last]


def depth_alt(inside: Depth, pieces: Sequence[str], said: Sequence[Sequence[str]]) -> str:
    """Return the picture as a sentence."""
    steps = ", ".join(
        _("{row}: {token} {share}").format(
            row=name, token=row[-1], share=format_percent(float(inside.chances[number, -1, 0]))
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
            f"{token} {format_percent(share)}" for token, share in zip(row, shares, strict=True)
        ]
    return table
