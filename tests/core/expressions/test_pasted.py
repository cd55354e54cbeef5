"""What people paste: it gives what torch gives, or is refused in a sentence."""

import ast
import contextlib
import io
import tomllib
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.expressions import MATERIALIZED, ExpressionError
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.expressions.limits import GRADIENTS
from core.expressions.names import GRADIENT, LAYOUT, MUTATION

PASTED = tomllib.loads(Path(__file__).with_name("pasted.toml").read_text(encoding="utf-8"))
PASTED = PASTED["pasted"]
PAGES = {
    "views": (LAYOUT, MATERIALIZED),
    "writes": (MUTATION, MATERIALIZED),
    "gradients": (GRADIENT, GRADIENTS),
}


def run(pasted):
    """Our variables, what the last line is, and what was printed."""
    profile, limits = PAGES[pasted["page"]]
    ended = evaluate(parse(pasted["text"], profile.syntax), {}, limits, profile)
    return ended.variables | {"last": ended.result}, ended.printed


def run_by_python(pasted):
    """The same of the oracle; our own texts. What the last line is, a prompt would show."""
    tree, names, printed = ast.parse(pasted["text"]), {"torch": torch, "F": F}, io.StringIO()
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    torch.manual_seed(0)
    with contextlib.redirect_stdout(printed):
        exec(ast.unparse(tree), names)  # noqa: S102
        value = eval(ast.unparse(last), names) if last else None  # noqa: S307
        if value is not None and not any(isinstance(x, torch.Tensor) for x in parts(value)):
            print(value)  # noqa: T201
    return names | {"last": value}, printed.getvalue()


def parts(value):
    return value if isinstance(value, tuple) else (value,)


def is_same(ours, theirs):
    if isinstance(theirs, tuple):
        pairs = zip(ours, theirs, strict=True)
        return all(is_same(x, y) for x, y in pairs) and type(ours) is type(theirs)
    if not isinstance(theirs, torch.Tensor):
        return ours == theirs and type(ours) is type(theirs)
    facts = [(x.shape, x.stride(), x.dtype, x.requires_grad) for x in (ours, theirs)]
    pairs = [(ours, theirs)]
    if theirs.is_leaf and theirs.grad is not None:
        pairs.append((ours.grad, theirs.grad))
    return facts[0] == facts[1] and all(
        torch.equal(x.double().nan_to_num(7e77), y.double().nan_to_num(7e77)) for x, y in pairs
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pasted", PASTED, ids=lambda pasted: pasted["text"].strip()[:40])
def test_what_is_pasted_gives_what_torch_gives_or_is_refused_in_a_sentence(pasted):
    words, torchs_own = pasted.get("refused", ""), ""
    if not words:
        try:
            wanted, print_out = run_by_python(pasted)
        except (RuntimeError, IndexError, TypeError) as error:
            torchs_own = str(error)
    if words or torchs_own:
        with pytest.raises(ExpressionError, match=r"\w{3}") as refused:
            run(pasted)
        assert words in refused.value.message
        assert refused.value.torch_message == torchs_own
        return
    told, printed = run(pasted)
    for name, value in told.items():
        is_shown = name == "last" and not isinstance(parts(wanted[name])[0], torch.Tensor)
        assert is_shown or is_same(value, wanted[name]), name
    assert "".join(f"{line}\n" for line in printed) == print_out


def test_seventeen_of_twenty_are_run():
    accepted = [each for each in PASTED if "refused" not in each]
    assert len(PASTED) >= 120
    assert len(accepted) / len(PASTED) >= 0.85
