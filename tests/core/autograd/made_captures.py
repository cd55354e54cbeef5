"""Captures made by hand: the shape of a graph, without running torch."""

from random import Random

from core.autograd.graph import (
    Capture,
    Edge,
    Event,
    Ghost,
    Leaf,
    Node,
    Saved,
    Statistics,
    TensorInfo,
)


def seeded(seed):
    return Random(seed)  # noqa: S311  a seeded test


def number(value):
    few = Statistics(minimum=value, maximum=value, mean=value, norm=abs(value))
    return TensorInfo(shape=(), dtype="float32", num_bytes=4, values=(value,), statistics=few)


def tensor(*shape, norm=1.0):
    num_bytes = 4
    for length in shape:
        num_bytes *= length
    few = Statistics(minimum=-norm, maximum=norm, mean=0.0, norm=norm)
    return TensorInfo(shape=shape, dtype="float32", num_bytes=num_bytes, statistics=few)


def kept(name, storage, num_bytes, kind="activation"):
    info = TensorInfo(shape=(num_bytes // 4,), dtype="float32", num_bytes=num_bytes)
    return Saved(name=name, tensor=info, storage=storage, storage_bytes=num_bytes, kind=kind)


def timeline(nodes, edges, ghosts=(), root=""):
    """Return forward operations, the seed, then the nodes as an engine would take them."""
    keeps = {
        node.id: sum(each.storage_bytes for each in node.saved if each.kind == "activation")
        for node in nodes
    }
    events, total = [], 0
    forward = [*[each for each in nodes if not each.leaf], *ghosts]
    for each in sorted(forward, key=lambda each: int(each.id[1:])):
        total += keeps.get(each.id, 0)
        events.append(Event(kind="forward", node=each.id, saved_bytes=total))
    by_id = {node.id: node for node in nodes}
    seed = by_id[root].gradients_in
    events.append(Event(kind="seed", node=root, backward=0, gradients=seed, saved_bytes=total))
    left = {node.id: sum(edge.target == node.id for edge in edges) for node in nodes}
    waiting = [root]
    while waiting:
        name = waiting.pop(0)
        node = by_id[name]
        common = {"node": name, "backward": 0}
        ready = tuple(waiting)
        events.append(
            Event(
                kind="node", gradients=node.gradients_in, waiting=ready, saved_bytes=total, **common
            )
        )
        if node.leaf:
            got = node.gradients_in[0]
            events.append(
                Event(kind="accumulate", gradients=(got,), after=got, saved_bytes=total, **common)
            )
        if keeps[name]:
            total -= keeps[name]
            freed = {"saved_bytes": total, "num_bytes": keeps[name]}
            events.append(Event(kind="release", waiting=ready, **freed, **common))
        for edge in edges:
            if edge.source == name and not edge.is_cut:
                left[edge.target] -= 1
                if not left[edge.target]:
                    waiting.append(edge.target)
    return tuple(events)


def fork():
    """(w * x) + w * w at w = 3, x = 4, ended by no_grad data: gradients 4 + 6 = 10 at w."""
    rows = (
        ("AccumulateGrad", "w", 3.0, 10.0, 3, {"leaf": "w"}),
        ("MulBackward0", "w * x", 12.0, 1.0, 1, {"saved": (kept("other", "s0", 4, "input"),)}),
        ("PowBackward0", "w ** 2", 9.0, 1.0, 2, {"saved": (kept("self", "s1", 4),)}),
        ("AddBackward0", "a + b", 21.0, 1.0, 0, {}),
    )
    nodes = tuple(
        Node(
            id=f"n{at}", type=kind, label=label, operation=("", "mul", "pow", "add")[at],
            outputs=(number(value),), gradients_in=(number(gradient),), order=order,
            line=at or None, **more,
        )
        for at, (kind, label, value, gradient, order, more) in enumerate(rows)
    )  # fmt: skip
    edges = (
        Edge(source="n1", target="n0", input_index=0, gradient=number(4.0)),
        Edge(source="n1", target="g4", input_index=1, is_cut=True),
        Edge(source="n2", target="n0", input_index=0, gradient=number(6.0)),
        Edge(source="n3", target="n1", input_index=0, gradient=number(1.0)),
        Edge(source="n3", target="n2", input_index=1, gradient=number(1.0)),
    )
    cut = {"operation": "detach", "inputs": ("n1",), "output": number(12.0)}
    ghosts = (
        Ghost(id="g4", label="x", reason="data", output=number(4.0)),
        Ghost(id="g5", label="a.detach()", reason="detach", **cut),
    )
    w = Leaf(name="w", value=number(3.0), requires_grad=True, node="n0", grad=number(10.0))
    events = timeline(nodes, edges, ghosts, "n3")
    parts = {"nodes": nodes, "edges": edges, "ghosts": ghosts, "events": events}
    return Capture(**parts, leaves={"w": w}, root="n3", result=number(21.0))


class Maker:
    """Builds a capture node by node."""

    def __init__(self):
        self.nodes, self.edges, self.ghosts = [], [], []

    def leaf(self, name):
        return self._add("AccumulateGrad", name, [], module="", leaf=name)

    def op(self, operation, inputs, module=""):
        return self._add(f"{operation.title()}Backward0", operation, inputs, module=module)

    def _add(self, kind, label, inputs, *, module, leaf=""):
        at = len(self.nodes)
        saved = () if leaf or at % 3 == 0 else (kept("self", f"s{at // 2}", 64),)
        flops = 0 if leaf else 100 + at
        node = Node(
            id=f"n{at}",
            type=kind,
            label=label,
            operation="" if leaf else label,
            leaf=leaf,
            module=module,
            outputs=(tensor(4, 8),),
            gradients_in=(tensor(4, 8, norm=10.0 ** (-at / 50)),),
            saved=saved,
            flops_forward=flops,
            flops_backward=2 * flops,
        )
        self.nodes.append(node)
        for index, target in enumerate(inputs):
            self.edges.append(
                Edge(source=node.id, target=target, input_index=index, gradient=tensor(4, 8))
            )
        return node.id

    def capture(self, root, *, is_timed=True):
        events = timeline(self.nodes, self.edges, self.ghosts, root) if is_timed else ()
        return Capture(
            nodes=tuple(self.nodes),
            edges=tuple(self.edges),
            ghosts=tuple(self.ghosts),
            events=events,
            root=root,
        )


def transformer(num_blocks=12):
    """Return 44 nodes a block and five around them: 533 of twelve blocks."""
    make = Maker()
    x = make.op("embedding", [make.leaf("wte.weight")], "wte")
    for block in range(num_blocks):
        path = f"blocks.{block}"
        for part, num_ops in (("attention", 12), ("feed_forward", 10)):
            skip, inside = x, f"{path}.{part}"
            x = make.op(
                "norm",
                [x, make.leaf(f"{path}.norm_{part}.weight"), make.leaf(f"{path}.norm_{part}.bias")],
                f"{path}.norm_{part}",
            )
            for at in range(num_ops):
                inputs = [x] + ([make.leaf(f"{inside}.w{at}")] if at % 2 == 0 else [])
                x = make.op("matmul" if at % 2 == 0 else "gelu", inputs, inside)
            x = make.op("add", [skip, x], path)
        for _ in range(3):
            x = make.op("mul", [x], path)
    head = make.leaf("head.weight")
    return make.capture(make.op("loss", [make.op("matmul", [x, head], "head")]))


def random_capture(rng, num_nodes=30):
    """Return a graph without circles whose nodes lie in modules at random."""
    make = Maker()
    modules = ["", "a", "a.0", "a.1", "b", "b.c", "b.c.0", "b.c.1"]
    made = [make.leaf("w")]
    for _ in range(num_nodes):
        inputs = [rng.choice(made) for _ in range(rng.randint(1, 3))]
        made.append(make.op(rng.choice(["add", "mul"]), inputs, rng.choice(modules)))
        if rng.random() < 0.2:
            make.ghosts.append(
                Ghost(
                    id=f"g{len(make.ghosts)}",
                    label="x",
                    reason="detach",
                    inputs=(rng.choice(made),),
                    module=rng.choice(modules),
                )
            )
            source = make.op("add", [rng.choice(made)], rng.choice(modules))
            make.edges.append(
                Edge(source=source, target=make.ghosts[-1].id, input_index=1, is_cut=True)
            )
            made.append(source)
    return make.capture(made[-1], is_timed=False)
