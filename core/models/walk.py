"""One real forward pass, taken apart: every tensor that a GPT or a Decoder makes on its way.

What modules were given and gave back is recorded; scores, mask, softmax and mix happen inside one
kernel, and are computed again from the recorded q, k and v.

Shape letters: B batch, T tokens, S tokens that are looked at, C width, H query heads, K key heads,
D head width, F inner width of the feed-forward layer, V vocabulary.
"""

from collections.abc import Iterator

import torch
from torch import nn

from core.models.attention import GroupedAttention
from core.models.attention_steps import AttentionSteps, attention_steps
from core.models.gpt import GPT, Attention
from core.models.recording import Recording, TokenIds, record
from core.models.stages import SourceLine, Stage, Tensors, make_stage, source_line


@torch.no_grad()
def walk(module: nn.Module, token_ids: TokenIds) -> tuple[Stage, ...]:
    """Return every stage of one forward pass; the last one holds the logits, bit for bit.

    Args:
        module: A GPT, or a dense Decoder of the profile "cpu".
        token_ids: (T,) or (B, T).

    Raises:
        ValueError: If the model is another one, or a token id is not in its vocabulary.
    """
    seen = record(module, token_ids)
    model = seen.model
    stages = [*_embedding(seen)]
    for layer in range(len(model.blocks)):
        stages += [*_attention(seen, layer), *_feed_forward(seen, layer)]
    last = model.logits if isinstance(model, GPT) else model.hidden
    stages.append(_norm(seen, "norm", source_line(last, "self.norm(x)")))
    line = source_line(model.logits, "self.head(")
    stages.append(_linear(seen, "head", ("C", "V"), line, name="logits", kind="logits"))
    return tuple(stages)


def _embedding(seen: Recording) -> Iterator[Stage]:
    model, x = seen.model, seen.outputs["tokens"]
    read = model.logits if isinstance(model, GPT) else model.embed
    rows = {"token_ids": seen.token_ids, "weight": model.tokens.weight.detach()}
    yield make_stage(
        "embedding",
        ("embedding", source_line(read, "self.tokens(token_ids)")),
        "B T, V C -> B T C",
        (rows, {"x": x}),
        module="tokens",
    )
    if "positions" in seen.outputs:
        yield make_stage(
            "positions",
            ("positions", source_line(read, "self.positions(")),
            "B T C, T C -> B T C",
            ({"x": x, "positions": seen.outputs["positions"]}, {"x": seen.residuals()[0]}),
            module="positions",
        )


def _attention(seen: Recording, layer: int) -> Iterator[Stage]:
    """Yield the first half of a block: norm, attention, sum."""
    block, name = seen.model.blocks[layer], f"blocks.{layer}"
    attention = seen.model.get_submodule(f"{name}.attention")
    yield _norm(seen, f"{name}.norm_1", source_line(block.forward, "self.norm_1(x)"))
    is_grouped = isinstance(attention, GroupedAttention)
    yield from (_grouped_heads if is_grouped else _packed_heads)(seen, layer)
    steps = attention_steps(*seen.attended(layer))
    yield from _kernel(seen, layer, steps)
    line = source_line(attention.forward, '"B H T D -> B T (H D)"')
    last = f"{name}.attention.{'o' if is_grouped else 'out'}"
    tensors = {"mixed": steps.mixed}, {"merged": seen.given(last)}
    yield make_stage(f"{name}.attention.merge", ("merge", line), "B H T D -> B T (H D)", tensors)
    yield _linear(seen, last, ("(H D)", "C"), line)
    yield from _sum(seen, layer, "1")


def _packed_heads(seen: Recording, layer: int) -> Iterator[Stage]:
    """Yield q, k and v of a GPT: one matrix makes all three."""
    name = f"blocks.{layer}.attention"
    line = source_line(Attention.forward, "self.qkv(x)")
    yield _linear(seen, f"{name}.qkv", ("C", "(three H D)"), line)
    q, k, v = seen.attended(layer)
    tensors = {"qkv": seen.outputs[f"{name}.qkv"]}, {"q": q, "k": k, "v": v}
    equation = "B T (three H D) -> three B H T D"
    yield make_stage(f"{name}.heads", ("heads", line), equation, tensors)


def _grouped_heads(seen: Recording, layer: int) -> Iterator[Stage]:
    """Yield q, k and v of a Decoder: a matrix for each, perhaps norms, perhaps a rotation."""
    name = f"blocks.{layer}.attention"
    forward = GroupedAttention.forward
    for letter, num in zip("qkv", "HKK", strict=True):
        line = source_line(forward, f"self.{letter}(x)")
        yield _linear(seen, f"{name}.{letter}", ("C", f"({num} D)"), line)
    flat = {letter: seen.outputs[f"{name}.{letter}"] for letter in "qkv"}
    heads = {"q": seen.given(f"{name}.q_norm"), "k": seen.given(f"{name}.k_norm")}
    heads["v"] = seen.attended(layer)[2]
    equation = "B T (H D), B T (K D), B T (K D) -> B H T D, B K T D, B K T D"
    line = source_line(GroupedAttention._heads, "rearrange(")
    yield make_stage(f"{name}.heads", ("heads", line), equation, (flat, heads))
    yield from _turned_heads(seen, layer)


def _turned_heads(seen: Recording, layer: int) -> Iterator[Stage]:
    """Yield what a Decoder does to q and k before they meet: norms and rotation, if it has them."""
    name, forward = f"blocks.{layer}.attention", GroupedAttention.forward
    q, k, _v = seen.attended(layer)
    for letter, axes in (("q", "B H T D"), ("k", "B K T D")):
        if _weights(seen, f"{name}.{letter}_norm"):
            line = source_line(forward, f"self._normed(self.{letter}_norm")
            yield _norm(seen, f"{name}.{letter}_norm", line, axes)
    rotary = seen.arguments[name][1]
    if rotary is not None:
        normed = {letter: seen.outputs[f"{name}.{letter}_norm"] for letter in "qk"}
        angles = dict(zip(("cosines", "sines"), rotary, strict=True))
        line = source_line(forward, "rotate(q, rotary)")
        equation = "B H T D, B K T D, T D, T D -> B H T D, B K T D"
        tensors = {**normed, **angles}, {"q": q, "k": k}
        yield make_stage(f"{name}.rotary", ("rotary", line), equation, tensors)


def _kernel(seen: Recording, layer: int, steps: AttentionSteps) -> Iterator[Stage]:
    """Yield what one kernel does: scores, mask, softmax and mix."""
    q, k, v = seen.attended(layer)
    keys = "H" if q.shape[1] == k.shape[1] else "K"
    rows: tuple[tuple[str, str, str, Tensors, Tensors], ...] = (
        ("scores", "q @ k", f"B H T D, B {keys} S D -> B H T S", {"q": q, "k": k},
         {"scores": steps.scores}),
        ("mask", "masked_fill(", "B H T S, T S -> B H T S",
         {"scores": steps.scores, "keep": steps.keep}, {"masked": steps.masked}),
        ("softmax", "softmax(", "B H T S -> B H T S", {"masked": steps.masked},
         {"weights": steps.weights}),
        ("mix", "weights @ v", f"B H T S, B {keys} S D -> B H T D",
         {"weights": steps.weights, "v": v}, {"mixed": steps.mixed}),
    )  # fmt: skip
    product = 2 * steps.scores.numel() * q.shape[-1]
    for kind, part, equation, *tensors in rows:
        yield make_stage(
            f"blocks.{layer}.attention.{kind}",
            (kind, source_line(attention_steps, part)),
            equation,
            (tensors[0], tensors[1]),
            flops=product if kind in {"scores", "mix"} else 0,
        )


def _feed_forward(seen: Recording, layer: int) -> Iterator[Stage]:
    """Yield the second half of a block: norm, two or three matrices, sum."""
    name = f"blocks.{layer}.feed_forward"
    line = source_line(seen.model.blocks[layer].forward, "self.norm_2(x)")
    yield _norm(seen, f"blocks.{layer}.norm_2", line)
    firsts = [each for each in ("gate", "up") if f"{name}.{each}" in seen.outputs]
    line = source_line(seen.model.get_submodule(name).forward, "self.up(x)")
    for each in firsts:
        yield _linear(seen, f"{name}.{each}", ("C", "F"), line, kind="feed_forward")
    last = f"{name}.down" if f"{name}.down" in seen.outputs else f"{name}.out"
    before = {each: seen.outputs[f"{name}.{each}"] for each in firsts}
    equation = ", ".join("B T F" for _each in firsts) + " -> B T F"
    tensors = before, {"inner": seen.given(last)}
    yield make_stage(f"{name}.activation", ("activation", line), equation, tensors)
    yield _linear(seen, last, ("F", "C"), line, kind="feed_forward")
    yield from _sum(seen, layer, "2")


def _sum(seen: Recording, layer: int, half: str) -> Iterator[Stage]:
    """Yield what a half of a block adds to the residual stream, and the stream after it."""
    name, module = f"blocks.{layer}", "attention" if half == "1" else "feed_forward"
    forward = seen.model.blocks[layer].forward
    line = source_line(forward, f"self.{module}(self.norm_{half}(x)")
    added = seen.outputs[f"{name}.{module}"]
    if _weights(seen, f"{name}.after_{half}"):
        yield _norm(seen, f"{name}.after_{half}", line)
        added = seen.outputs[f"{name}.after_{half}"]
    between = seen.given(f"{name}.norm_2")
    before, after = seen.residuals()[layer : layer + 2]
    x, result = (before, between) if half == "1" else (between, after)
    yield make_stage(
        f"{name}.residual_{half}",
        ("residual", line),
        "B T C, B T C -> B T C",
        ({"x": x, "added": added}, {"x": result}),
    )


def _norm(seen: Recording, name: str, line: SourceLine, axes: str = "B T C") -> Stage:
    weights = _weights(seen, name)
    equation = ", ".join([axes, *(axes[-1] for _each in weights)]) + f" -> {axes}"
    tensors = {"x": seen.given(name), **weights}, {"x": seen.outputs[name]}
    return make_stage(name, ("norm", line), equation, tensors, module=name)


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
    weights = _weights(seen, module)
    equation = ", ".join([f"B T {before}", f"{after} {before}", after][: 1 + len(weights)])
    x = seen.outputs[module]
    return make_stage(
        name or module,
        (kind, line),
        f"{equation} -> B T {after}",
        ({"x": seen.given(module), **weights}, {name or module.rpartition(".")[2]: x}),
        module=module,
        flops=2 * x.numel() * weights["weight"].shape[1],
    )


def _weights(seen: Recording, module: str) -> Tensors:
    """Return the weight and the bias of a module, as far as it has them."""
    named = seen.model.get_submodule(module).named_parameters() if module in seen.outputs else ()
    return {name: each.detach() for name, each in named}
