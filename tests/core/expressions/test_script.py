"""The script of a program runs in plain Python and gives the same."""

import subprocess
import sys

import pytest
import torch

from core.expressions.grammar import parse, script
from core.expressions.interpreter import evaluate
from core.expressions.names import MUTATION

TEXTS = [
    "x.t()",
    "y = x.t()\ny.contiguous().view(-1)",
    "q, k = x.chunk(2, -1)",
    "rearrange(x, 'a (b c) -> c a b', b=2)",
    "einops.repeat(x, 'a b -> a b c', c=2)",
    "F.softmax(x, -1)",
    "torch.nn.functional.relu(x - 9)",
    "einsum(x, x, 'a b, c b -> a c')",
    "y = x[1]\ny[0] = 5",
    "x.add_(1)",
    "x[x > 3].to(torch.float16)",
    "y = x; z = y[:, ::2].sum(0)",
    "import torch\ny = x.t()\nprint(y.shape)",
    "y = x.t()\nprint(y)\ny[0] / math.sqrt(y.size(0))",
    "print(x.t())",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_script_gives_the_result_of_its_program(text):
    x = torch.arange(24.0).view(4, 6)
    wanted = evaluate(parse(text), {"x": x.clone()}, profile=MUTATION).result
    names = {"x": x.clone()}
    exec(script(parse(text)), names)  # noqa: S102  our own texts
    last = wanted[-1] if isinstance(wanted, tuple) else wanted
    assert torch.equal(names["result"], last)


@pytest.mark.slow
def test_a_script_needs_nothing_but_what_it_imports():
    text = script(parse("y = rearrange(x, 'a b -> b a')\nF.relu(y)"))
    made = text.replace("import torch", "import torch; x = torch.ones(2, 3)", 1)
    program = f"{made}\nprint(result.shape)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "torch.Size([3, 2])"


def test_the_first_statements_alone_end_in_a_result_too():
    program = parse("y = x.t()\nz = y + 1\nz.view(99)")
    assert script(program, 2).endswith("z = y + 1\nresult = z")
    assert script(program, 0) == "import torch"
