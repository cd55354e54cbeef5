"""A contraction of two tensors as plain torch: permute, reshape, and one product of matrices."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.tensors.shape_text import written_shape


@dataclass(frozen=True, kw_only=True, slots=True)
class Factor:
    """A tensor of an equation, by its name in the code."""

    name: str
    letters: str  # of its dimensions; one that appears twice stands for the diagonal
    shape: tuple[int, ...]

    @property
    def lengths(self) -> dict[str, int]:
        """Length of each letter."""
        return dict(zip(self.letters, self.shape, strict=True))

    @property
    def long_letters(self) -> set[str]:
        """Letters whose length is not 1: a length of 1 is the same as no dimension at all."""
        return {letter for letter, length in self.lengths.items() if length != 1}


def single_code(x: Factor, result: Factor) -> str:
    """Return the code of a sum and a permutation."""
    code, letters = _reduced(x, set(result.letters))
    return _arranged(code, letters, result)


def product_code(left: Factor, right: Factor, result: Factor) -> str:
    """Return the code of a product: a matmul if an axis of both is summed, else `*`."""
    shared = left.long_letters & right.long_letters
    wanted = set(result.letters)
    one, a = _reduced(left, wanted | shared)
    two, b = _reduced(right, wanted | shared)
    lengths = left.lengths | right.lengths
    batch = [letter for letter in a if letter in b and letter in wanted]
    summed = [letter for letter in a if letter in b and letter not in wanted]
    rows = [letter for letter in a if letter not in b]
    cols = [letter for letter in b if letter not in a]
    if not summed:
        return _multiplied((one, a), (two, b), lengths, result)
    one = _grouped(_permuted(one, a, [*batch, *rows, *summed]), batch, (rows, summed), lengths)
    two = _grouped(_permuted(two, b, [*batch, *summed, *cols]), batch, (summed, cols), lengths)
    code, letters = f"{one} @ {two}", [*batch, *rows, *cols]
    if len(rows) != 1 or len(cols) != 1:
        code = f"({code}).reshape({written_shape([lengths[letter] for letter in letters])})"
    return _arranged(code, letters, result)


def _multiplied(
    left: tuple[str, list[str]],
    right: tuple[str, list[str]],
    lengths: dict[str, int],
    result: Factor,
) -> str:
    """Align both with the result and multiply: dimensions that one has not are stretched."""
    order = [x for x in result.letters if x in {*left[1], *right[1]}]
    parts = []
    for code, letters in (left, right):
        own = _permuted(code, letters, [x for x in order if x in letters])
        shape = [lengths[x] if x in letters else 1 for x in order]
        is_aligned = 1 not in shape[next((i for i, n in enumerate(shape) if n != 1), 0) :]
        parts.append(own if is_aligned else f"{own}.reshape({written_shape(shape)})")
    return _arranged(" * ".join(parts), order, result)


def _reduced(x: Factor, kept: set[str]) -> tuple[str, list[str]]:
    """Return code of `x` without twice the same letter, without lengths of 1, and summed."""
    code, letters, shape = x.name, list(x.letters), list(x.shape)
    for letter in dict.fromkeys(x.letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            code += f".diagonal(0, {first}, {second})"
            length = shape[first]
            for place in (second, first):
                del letters[place], shape[place]
            letters.append(letter)
            shape.append(length)
    ones = [dim for dim, length in enumerate(shape) if length == 1]
    if ones:
        code += f".squeeze({_tuple(ones)})"
        letters = [letter for dim, letter in enumerate(letters) if dim not in ones]
    summed = [dim for dim, letter in enumerate(letters) if letter not in kept]
    if summed:
        code += f".sum({_tuple(summed)})"
    return code, [letter for letter in letters if letter in kept]


def _permuted(code: str, letters: Sequence[str], order: Sequence[str]) -> str:
    if list(letters) == list(order):
        return code
    dims = [letters.index(letter) for letter in order]
    is_swap = dims[:-2] == list(range(len(dims) - 2)) and len(dims) > 1
    return f"{code}.transpose(-2, -1)" if is_swap else f"{code}.permute({written_shape(dims)})"


def _grouped(
    code: str,
    batch: Sequence[str],
    groups: tuple[Sequence[str], Sequence[str]],
    lengths: dict[str, int],
) -> str:
    """Make one dimension of each of the last two groups of letters."""
    if all(len(group) == 1 for group in groups):
        return code
    merged = [math.prod(lengths[letter] for letter in group) for group in groups]
    return f"{code}.reshape({written_shape([*(lengths[letter] for letter in batch), *merged])})"


def _arranged(code: str, letters: Sequence[str], result: Factor) -> str:
    """Bring a value into the order of the result, and put lengths of 1 in again."""
    order = [letter for letter in result.letters if letter in letters]
    is_whole = list(letters) == list(result.letters)
    code = code if is_whole or _is_closed(code) else f"({code})"
    code = _permuted(code, letters, order)
    for dim, letter in enumerate(result.letters):
        if letter not in letters:
            code += f".unsqueeze({dim})"
    return code


def _is_closed(code: str) -> bool:
    """Whether a method may follow: no operator stands outside of brackets."""
    depth = 0
    for character in code:
        depth += (character == "(") - (character == ")")
        if depth == 0 and character in "@*":
            return False
    return True


def _tuple(numbers: Sequence[int]) -> str:
    return f"({written_shape(numbers)},)"
