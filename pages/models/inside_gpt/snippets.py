"""Code that a reader can run: the logit lens in plain torch."""

from pages.models.inside_gpt.inputs import Case

_OPEN = {
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
    imports, opened = _OPEN[case.opened.kind]
    return _LENS.format(
        imports=imports,
        opened=opened.format(step=case.opened.step, run=run),
        ids=", ".join(map(str, case.token_ids)),
    )
