"""Code that a reader can run: the logit lens in plain torch."""

from pages.models.inside_gpt.inputs import Case

OPEN = {
    "shipped": (
        "from core.train.learning.opened import open_shipped\n",
        "open_shipped({step})",
    ),
    "fresh": (
        "from core.train.learning.opened import open_fresh, open_shipped\n",
        "open_fresh(open_shipped(0))",
    ),
    "run": (
        "from core.train.learning.opened import open_run\n"
        "from core.train.run.directory import runs_directory\n",
        'open_run(runs_directory() / "{run}", {step})',
    ),
}
_LENS = """import torch

{imports}
opened = {opened}
model, ids = opened.model, torch.tensor([{ids}])
after = []  # the chances of the next token, after the embedding and after each block
with torch.no_grad():
    x = model.tokens(ids) + model.positions.weight[: len(ids)]  # (T, C)
    after.append(model.head(model.norm(x[-1])).softmax(-1))
    for block in model.blocks:
        x = block(x[None])[0]
        after.append(model.head(model.norm(x[-1])).softmax(-1))
best = int(after[-1].argmax())
print(repr(opened.tokenizer.decode([best])), [f"{{float(each[best]):.1%}}" for each in after])
"""


def snippet(case: Case, run: str) -> str:
    """Return Python that prints the chances of the headline.

    Args:
        case: What is shown.
        run: Name of the run that it was opened from, if it is one's.
    """
    return _LENS.format(**opening(case, run))


def opening(case: Case, run: str) -> dict[str, str]:
    """Return the imports, the call that opens the case's model, and the token ids.

    Args:
        case: What is shown.
        run: Name of the run that it was opened from, if it is one's.
    """
    imports, opened = OPEN[case.opened.kind]
    return {
        "imports": imports,
        "opened": opened.format(step=case.opened.step, run=run),
        "ids": ", ".join(map(str, case.token_ids)),
    }


_STAGE = """from core.models.walk import walk
{imports}
opened = {opened}
for stage in walk(opened.model, [{ids}]):
    if stage.name == "{name}":
        shapes = [tuple(each.shape) for each in stage.outputs.values()]
        print(stage.equation, shapes, stage.num_bytes, "bytes", stage.flops, "FLOPs")
        print(stage.source)
"""
_HEAD = """import math

import torch
from einops import rearrange

{imports}
opened = {opened}
model, ids = opened.model, torch.tensor([[{ids}]])
with torch.no_grad():
    x = model.tokens(ids) + model.positions.weight[: ids.shape[1]]  # (1, T, C)
    for block in model.blocks[:{layer}]:
        x = block(x)
    block = model.blocks[{layer}]
    packed = block.attention.qkv(block.norm_1(x))
    q, k, v = rearrange(
        packed, "1 T (three H D) -> three H T D", three=3, H=model.shape.num_heads
    )[:, {head}]  # each (T, D)
    scores = q @ k.T / math.sqrt(q.shape[-1])
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -math.inf).softmax(-1)
    mixed = weights @ v
best = int(weights[{at}].argmax())
print("token", best + 1, f"score {{scores[{at}, best]:.2f}}, weight {{weights[{at}, best]:.1%}}")
"""


def stage_snippet(case: Case, run: str, name: str) -> str:
    return _STAGE.format(**opening(case, run), name=name)


def head_snippet(case: Case, run: str, head: int) -> str:
    """Return plain torch that prints the score and the weight of a head's headline."""
    return _HEAD.format(**opening(case, run), layer=case.layer, head=head, at=case.at)
