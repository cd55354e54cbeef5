"""What ranks hold after some turns of a collective: the messages of `turns`, carried out."""

from typing import get_args

from core.budget.parallel.collectives import Pattern, chunks, held_at_first

PATTERNS = get_args(Pattern)


def held_after(pattern, done, num_ranks):
    """Return what ranks hold after some turns: how many ranks' parts are in each chunk."""
    held = [list(row) for row in held_at_first(pattern, num_ranks)]
    for turn in done:
        moves = turn.moves(num_ranks, chunks(pattern, num_ranks))
        parcels = [held[move.source][move.chunk] for move in moves]  # all leave at once
        for move, parts in zip(moves, parcels, strict=True):
            kept = held[move.target][move.chunk] if turn.adds else 0
            held[move.target][move.chunk] = kept + parts
    return tuple(map(tuple, held))
