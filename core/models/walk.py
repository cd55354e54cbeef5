"""One real forward pass, taken apart: every tensor that a GPT makes on its way.

What modules were given and gave back is recorded; scores, mask, softmax and mix happen inside one
kernel, and are computed again from the recorded q, k and v.

Shape letters: B batch, T tokens, S tokens that are looked at, C width, H heads, D head width,
F inner width of the feed-forward layer, V vocabulary.
"""

from collections.abc import Iterator

import torch

from core.models.attention_steps import attention_steps
from core.models.gpt import GPT, Attention, Block, FeedForward
from core.models.recording import Recording, TokenIds, record
from core.models.stages import SourceLine, Stage, Tensors, make_stage, source_line


@torch.no_grad()
def walk(module: GPT, token_ids: TokenIds) -> tuple[Stage, ...]:
    """Return every stage of one forward pass; the last one holds the logits, bit for bit.

    Args:
        module: The model.
        token_ids: (T,) or (B, T).
    """
    seen = record(module, token_ids)
    stages = [*_embedding(seen)]
    for layer in range(len(seen.model.blocks)):
        stages += [*_attention(seen, layer), *_feed_forward(seen, layer)]
    line = source_line(GPT.logits, "self.head(self.norm(x)")
    stages.append(_norm(seen, "norm", line))
    stages.append(_linear(seen, "head", ("C", "V"), line, name="logits", kind="logits"))
    return tuple(stages)


def _embedding(seen: Recording) -> Iterator[Stage]:
    x, positions = seen.outputs["tokens"], seen.outputs["positions"]
    line = source_line(GPT.logits, "self.tokens(token_ids)")
    rows = {"token_ids": seen.token_ids, "weight": seen.model.tokens.weight.detach()}
    tensors = rows, {"x": x}
    yield make_stage(
        "embedding", ("embedding", line), "B T, V C -> B T C", tensors, module="tokens"
    )
    tensors = {"x": x, "positions": positions}, {"x": seen.residuals()[0]}
    yield make_stage(
        "positions", ("positions", line), "B T C, T C -> B T C", tensors, module="positions"
    )


def _attention(seen: Recording, layer: int) -> Iterator[Stage]:
    """Yield the first half of a block: norm, attention, sum."""
    block = f"blocks.{layer}"
    name = f"{block}.attention"
    yield _norm(seen, f"{block}.norm_1", source_line(Block.forward, "self.norm_1(x)"))
    line = source_line(Attention.forward, "self.qkv(x)")
    yield _linear(seen, f"{name}.qkv", ("C", "(three H D)"), line)
    q, k, v = seen.attended(layer)
    tensors: tuple[Tensors, Tensors]
    tensors = {"qkv": seen.outputs[f"{name}.qkv"]}, {"q": q, "k": k, "v": v}
    equation = "B T (three H D) -> three B H T D"
    yield make_stage(f"{name}.heads", ("heads", line), equation, tensors)
    yield from _kernel(seen, layer)
    line = source_line(Attention.forward, "mixed.permute(0, 2, 1, 3)")
    mixed = attention_steps(q, k, v).mixed
    tensors = {"mixed": mixed}, {"merged": seen.given(f"{name}.out")}
    yield make_stage(f"{name}.merge", ("merge", line), "B H T D -> B T (H D)", tensors)
    yield _linear(seen, f"{name}.out", ("(H D)", "C"), line)
    yield _sum(seen, layer, "1")


def _kernel(seen: Recording, layer: int) -> Iterator[Stage]:
    """Yield what one kernel does: scores, mask, softmax and mix."""
    q, k, v = seen.attended(layer)
    steps = attention_steps(q, k, v)
    rows: tuple[tuple[str, str, str, Tensors, Tensors], ...] = (
        ("scores", "q @ k", "B H T D, B H S D -> B H T S", {"q": q, "k": k},
         {"scores": steps.scores}),
        ("mask", "masked_fill(", "B H T S, T S -> B H T S",
         {"scores": steps.scores, "keep": steps.keep}, {"masked": steps.masked}),
        ("softmax", "softmax(", "B H T S -> B H T S", {"masked": steps.masked},
         {"weights": steps.weights}),
        ("mix", "weights @ v", "B H T S, B H S D -> B H T D",
         {"weights": steps.weights, "v": v}, {"mixed": steps.mixed}),
    )  # fmt: skip
    product = 2 * steps.scores.numel() * q.shape[-1]
    for kind, part, equation, inputs, outputs in rows:
        yield make_stage(
            f"blocks.{layer}.attention.{kind}",
            (kind, source_line(attention_steps, part)),
            equation,
            (inputs, outputs),
            flops=product if kind in {"scores", "mix"} else 0,
        )


def _feed_forward(seen: Recording, layer: int) -> Iterator[Stage]:
    """Yield the second half of a block: norm, two matrices, sum."""
    name = f"blocks.{layer}.feed_forward"
    line = source_line(Block.forward, "self.norm_2(x)")
    yield _norm(seen, f"blocks.{layer}.norm_2", line)
    line = source_line(FeedForward.forward, "self.up(x)")
    yield _linear(seen, f"{name}.up", ("C", "F"), line, kind="feed_forward")
    tensors = {"up": seen.outputs[f"{name}.up"]}, {"inner": seen.given(f"{name}.out")}
    yield make_stage(f"{name}.activation", ("activation", line), "B T F -> B T F", tensors)
    yield _linear(seen, f"{name}.out", ("F", "C"), line, kind="feed_forward")
    yield _sum(seen, layer, "2")


def _sum(seen: Recording, layer: int, half: str) -> Stage:
    """Return what a half of a block adds to the residual stream, and the stream after it."""
    name, module = f"blocks.{layer}", "attention" if half == "1" else "feed_forward"
    line = source_line(Block.forward, f"self.{module}(self.norm_{half}(x)")
    between = seen.given(f"{name}.norm_2")
    before, after = seen.residuals()[layer : layer + 2]
    x, result = (before, between) if half == "1" else (between, after)
    tensors = {"x": x, "added": seen.outputs[f"{name}.{module}"]}, {"x": result}
    return make_stage(
        f"{name}.residual_{half}", ("residual", line), "B T C, B T C -> B T C", tensors
    )


def _norm(seen: Recording, name: str, line: SourceLine) -> Stage:
    weight = seen.model.get_parameter(f"{name}.weight").detach()
    tensors = {"x": seen.given(name), "weight": weight}, {"x": seen.outputs[name]}
    return make_stage(name, ("norm", line), "B T C, C -> B T C", tensors, module=name)


def _linear(
    seen: Recording,
    module: str,
    axes: tuple[str, str],
    line: SourceLine,
    *,
    name: str = "",
    kind: str = "projection",
) -> Stage:
    before, after = axes
    x, weight = seen.outputs[module], seen.model.get_parameter(f"{module}.weight").detach()
    tensors = {"x": seen.given(module), "weight": weight}, {name or module.rpartition(".")[2]: x}
    return make_stage(
        name or module,
        (kind, line),
        f"B T {before}, {after} {before} -> B T {after}",
        tensors,
        module=module,
        flops=2 * x.numel() * weight.shape[1],
    )
