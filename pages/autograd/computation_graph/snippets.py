"""The program as plain PyTorch, which runs anywhere with torch."""

import re
from typing import Final

from pages.autograd.computation_graph.inputs import Case

_BUILT: Final = """
from core.autograd.built_graphs import BUILT_GRAPHS, capture_built

capture = capture_built(BUILT_GRAPHS["{key}"], {number})
"""
_OF_RUN: Final = """
from core.train.learning.step_graph import graph_of_step
from core.train.run.directory import runs_directory

capture = graph_of_step(runs_directory() / "{name}", {step})
"""
_PRINTED: Final = """\
print(len(capture.nodes), "nodes;", len(capture.order), "ran in backward")
for name, leaf in list(capture.leaves.items())[:4]:
    print(name, None if leaf.grad is None else leaf.grad.statistics)
"""


def snippet(case: Case) -> str:
    if case.run is not None:
        return _OF_RUN.format(name=case.run.directory.name, step=case.run.step) + _PRINTED
    if case.built is not None:
        return _BUILT.format(key=case.built.key, number=case.number) + _PRINTED
    body = case.source.strip()
    if "backward" not in body:
        body = _with_backward(body)
    if case.capture.error is not None and case.capture.error.kind != "ExpressionError":
        indented = "\n".join(f"    {line}" for line in body.split("\n"))
        body = f"try:\n{indented}\nexcept Exception as error:\n    print(error)"
    return "\n".join([*_given(case), body, *_printed(case)])


def _with_backward(body: str) -> str:
    *before, last = body.split("\n")
    name, equals, _value = last.partition(" = ")
    is_named = bool(equals) and name.isidentifier()
    named = last if is_named else f"result = {last}"
    return "\n".join([*before, named, f"{name if is_named else 'result'}.backward()"])


def _given(case: Case) -> list[str]:
    lines = ["import torch", "from torch.nn import functional as F", ""]
    for name, x in case.leaves.items():
        more = ", requires_grad=True" if x.requires_grad else ""
        values = re.sub(r"\b(inf|nan)\b", r"torch.\1", str(x.tolist()))
        lines.append(f"{name} = torch.tensor({values}{more})")
    return lines


def _printed(case: Case) -> list[str]:
    return [
        f'print("{name}.grad =", {name}.grad)' for name, x in case.leaves.items() if x.requires_grad
    ]
