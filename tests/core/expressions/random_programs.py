"""Random texts, seeded: loose tokens, calls with arguments of any kind, and sound texts damaged.

`x` is a tensor of shape (4, 6), `v` of 7 elements, `m` a mask like `x`, `s` a scalar, `e` empty.
"""

import random
import re

from core.expressions.functions import CONSTANTS, FUNCTIONS
from core.expressions.methods import METHODS, PROPERTIES, WRITES
from core.expressions.signature import REQUIRED

NAMES = ["x", "v", "m", "s", "e", "y", "q"]
NUMBERS = ["0", "1", "2", "3", "-1", "4", "6", "7", "24", "1.5", "1e9", "99999", "262144"]
NUMBERS += ["1000000000", "9223372036854775807", "-9223372036854775807", "1e308", "0.0"]
TEXTS = ["'a b -> b a'", "'a b -> (a b)'", "'ab,cb->ac'", "'a b, c b -> a c'", "'a b -> a b c'"]
TEXTS += ["'(a b) c -> a b c'", "'... -> ...'", "'sum'", "'max'", "'a -> a a'", "'->'", "'a ('"]
TEXTS += ["''"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "==", "<", ">=", "~", "!="]
OPERATORS += ["<=", ">"]
PYTHON = ["if", "else", "lambda", "for", "in", "not", "is", "and", "or", "import", "def"]
PYTHON += ["class", "await", "yield", "return", "None", "True", "False", "print", "getattr"]
PYTHON += ["__class__", ":=", "open", "eval", "{", "}", "<<", "^", "->", "...", ";", "\n", "="]
PYTHON += ["+=", ":", ",", "**", "@"]
JUNK = ["\\", "\t", "\x00", "\u200b", "ｘ", "х", "−", "$", "?", "`", "#", '"', "'", "f''", "0x"]
JUNK += ["1_0", "b''", "1j", "\r\n", "😀", "  ", "é", "'''"]
BRACKETS = ["(", ")", "[", "]", "(", ")", ",", ":", "."]
CALLS = [f".{name}" for name in [*METHODS, *PROPERTIES, *WRITES]] + list(FUNCTIONS)
TOKENS = [*NAMES, *NUMBERS, *TEXTS, *OPERATORS, *PYTHON, *JUNK, *BRACKETS, *BRACKETS, *CALLS]
SOUND = [
    "x.t().reshape(6, 4)",
    "y = x[:, ::2]\ny.contiguous().view(-1)",
    "rearrange(x, '(a b) c -> b (a c)', a=2)",
    "torch.einsum('ab,cb->ac', x, x).softmax(-1)",
    "q, y = x.chunk(2, -1)\nq @ y.t()",
    "torch.cat([x, x[[0, 1]], x[m[:, 0]]], 0)[..., None]",
    "x.unsqueeze(0).expand(3, 4, 6).permute(2, 0, 1).flatten(1)",
    "torch.where(x > 3, x, 0).sum(0, keepdim=True)",
    "v.unfold(0, 3, 1).as_strided((2, 3), (2, 1))",
]


def random_program(rng: random.Random) -> str:
    """Return a text of one of the three kinds."""
    kind = rng.random()
    if kind < 0.25:
        space = rng.choice(["", " "])
        return space.join(rng.choice(TOKENS) for _ in range(rng.randint(1, 20)))
    if kind < 0.5:
        return damaged(rng, rng.choice(SOUND))
    lines = [f"{rng.choice(['y', 'q', 'x'])} = {tensor(rng, 2)}" for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.1:
        lines.append(f"{tensor(rng, 0)}[{index(rng)}] = {value(rng, 1)}")
    return "\n".join([*lines, tensor(rng, 3)])


def nested_program(rng: random.Random, num_characters: int = 500) -> str:
    """Return lines of lists, tuples and slices made of the names before them, and a use of one."""
    lines, names = list[str](), ["x"]
    for name in rng.sample("abcdefghjklmnopqrstuvw", rng.randint(1, 12)):
        line = f"{name} = {_nested_value(rng, names)}"
        if len("\n".join([*lines, line])) < num_characters - 50:
            lines.append(line)
            names.append(name)
    use = re.sub(r"\bi\b", names[-1], rng.choice(_USES))
    return "\n".join([*lines, use if rng.random() < 0.6 else "x"])


_USES = ["i", "torch.tensor(i)", "x[i]", "x[i] = 1", "x[i, i]", "x[[i, i, i]] = i", "x += i", "-i"]
_USES += ["torch.cat(i)", "torch.stack([i, i])", "x.view(i)", "x + i", "i == i", "i[0][1]", "i * 9"]
_USES += ["rearrange(i, 'a b -> b a')", "repeat(i, 'a b -> a b r', r=i)", "a, b = i", "x.split(i)"]
_USES += ["torch.where(x > 3, i, i)", "F.unfold(x, i)", "torch.zeros(i)", "x.roll(i, i)", "i.shape"]


def _nested_value(rng: random.Random, names: list[str]) -> str:
    kind, name = rng.random(), names[-1] if rng.random() < 0.7 else rng.choice(names)
    if kind < 0.15:
        return rng.choice(
            [f"{name}[::{rng.randint(-1, 2)}]", f"{name}[0]", "x.shape", "x.unbind()"]
        )
    words = ["0", "1", "1.5", "True", "None", "...", "'a'", "[]", "()", "-9223372036854775807"]
    plain = kind < 0.3
    items = [rng.choice(words) if plain else name] * rng.choice([1, 2, 6, 10, 20])
    inner = ", ".join(items)
    for _ in range(rng.choice([1, 1, 1, 1, 9])):
        inner = rng.choice([f"[{inner}]", f"({inner},)"])
    return inner


def damaged(rng: random.Random, text: str) -> str:
    """Drop, double, or replace a few pieces of a sound text."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(text) + 1)
        end = min(start + rng.choice([0, 1, 1, 2, 5]), len(text))
        text = text[:start] + rng.choice(["", rng.choice(TOKENS), text[start:end] * 2]) + text[end:]
    return text


def tensor(rng: random.Random, depth: int) -> str:
    """Return an expression that may be a tensor."""
    if depth <= 0 or rng.random() < 0.3:
        return rng.choice(["x", "x", "x", "v", "m", "s", "e"])
    kind = rng.random()
    if kind < 0.5:
        name = rng.choice([*METHODS, *WRITES] if rng.random() < 0.1 else [*METHODS])
        return f"{tensor(rng, depth - 1)}.{name}({arguments(rng, METHODS.get(name), depth)})"
    if kind < 0.7:
        name = rng.choice([*FUNCTIONS])
        return f"{name}({arguments(rng, FUNCTIONS[name], depth)})"
    if kind < 0.85:
        return f"{tensor(rng, depth - 1)}[{index(rng)}]"
    return f"({tensor(rng, depth - 1)} {rng.choice(OPERATORS)} {value(rng, depth - 1)})"


def arguments(rng: random.Random, call, depth: int) -> str:
    """Return arguments that mostly are of the kinds that a call takes."""
    given = [
        of_kind(rng, rng.choice(each.kinds), depth) if rng.random() < 0.985 else value(rng, 0)
        for each in (call.parameters if call else ())
        if each.default is REQUIRED or rng.random() < 0.3
    ]
    if call and call.takes_sizes:
        given += [f"{rng.choice('abc')}={rng.choice(NUMBERS)}" for _ in range(rng.randint(0, 2))]
    return ", ".join(given)


def of_kind(rng: random.Random, kind: str, depth: int) -> str:
    """Return an argument of a kind of `core.expressions.signature`."""
    some = [rng.choice(["0", "1", "2", "3", "4", "6", "-1"]) for _ in range(rng.randint(0, 3))]
    words = {
        "int": rng.choice(["0", "1", "0", "1", "-1", "2", rng.choice(NUMBERS)]),
        "ints": f"({', '.join(some)},)" if some else "()",
        "*ints": ", ".join(some) or rng.choice(NUMBERS),
        "bool": rng.choice(["True", "False"]),
        "text": rng.choice(TEXTS),
        "dtype": rng.choice([*CONSTANTS]),
        "format": rng.choice([*CONSTANTS]),
        "tensor": tensor(rng, depth - 1),
        "tensors": f"[{tensor(rng, depth - 1)}, {tensor(rng, 0)}]",
        "None": "None",
    }
    return words.get(kind) or rng.choice(NUMBERS)


def index(rng: random.Random) -> str:
    """Return what may stand in brackets."""
    whole = [":", "...", "None", "0", "-1", "1:", "::2", "9", "True", "[0, 1]", "[True, False]"]
    tensors = [
        "m",
        "s",
        "m[0]",
        "torch.tensor([1])",
        "x > 3",
        "torch.zeros((9, 1)).long()",
        "v.int()",
    ]
    return ", ".join(rng.choice(whole + tensors) for _ in range(rng.choice([1, 1, 2, 2, 3])))


def value(rng: random.Random, depth: int) -> str:
    """Return an expression of any kind."""
    return rng.choice(
        [rng.choice(NUMBERS), *[tensor(rng, depth)] * 5, "2", "None", "'a'"][: rng.choice([7, 9])]
    )
