"""Cards on autograd."""

from typing import Final

from core.bugs.card import Card
from core.language import N_

_MSE: Final = """w = torch.tensor(0.5, requires_grad=True)
x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([2.0, 3.0, 4.0])
"""
_LEAF: Final = "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = 2 * x\n"
_INNER: Final = "w = torch.tensor(2.0, requires_grad=True)\ny = 3 * w\n"
_STACK: Final = "stack = Stack(width=1024, on_meta=True)  # 16 layers of Linear and ReLU\n"
_ZEROS: Final = "x = torch.zeros(2, requires_grad=True)\n"
_ROOT: Final = "x = torch.zeros(1, requires_grad=True)\n"
_CHOSEN: Final = "torch.where(x > 0, {root}, 0.0).sum().backward()\nx.grad.item()"

CARDS: Final = (
    Card(
        key="printed-gradient",
        subject="gradients",
        level=1,
        title=N_("A printed gradient"),
        claim=N_("Below this code a tutorial prints the gradient {wrong}."),
        wrong=_MSE + "terms = 2 * (w * x - y) * x\n(terms[:2].sum() / 3).item()",
        right=_MSE + "loss = ((w * x - y) ** 2).mean()\nloss.backward()\nw.grad.item()",
        other=_MSE + "loss = ((w * x - y) ** 2).sum()\nloss.backward()\nw.grad.item()",
        why_other=N_("That is the gradient of the sum; here it is the mean."),
        why=N_(
            "The terms are −3, −8 and −15; their mean is {right}. The printed number leaves the "
            "last one out and still divides by three."
        ),
        shows="right",
        written="{:.4f}",
        page="autograd/computation_graph",
        query=(
            ("graph_code", "pred = w * x\nloss = ((pred - y) ** 2).mean()\nloss.backward()"),
            ("graph_leaves", "w = [0.5]; x = [1.0, 2.0, 3.0] (data); y = [2.0, 3.0, 4.0] (data)"),
            ("graph_leaf", "w"),
        ),
        concepts=("C60",),
    ),
    Card(
        key="leaf-in-no-grad",
        subject="gradients",
        level=2,
        title=N_("A leaf made in no_grad"),
        claim=N_(
            "A handbook says: a tensor made inside `no_grad` gets no gradient, even with "
            "requires_grad=True: {wrong}."
        ),
        question=N_("What is w.grad?"),
        wrong="w = torch.ones(3, requires_grad=True)\nwith torch.no_grad():\n    v = 2 * w\nv.grad",
        right="with torch.no_grad():\n    w = torch.ones(3, requires_grad=True)\n"
        "(2 * w).sum().backward()\nw.grad.tolist()",
        other="torch.zeros(3).tolist()",
        why_other=N_("A gradient that nobody computed would be None, not zero."),
        why=N_(
            "`no_grad` cuts only results that are computed inside it. A leaf that asks for "
            "gradients gets them: {right}."
        ),
        shows="right",
        page="autograd/computation_graph",
        query=(
            (
                "graph_code",
                "with torch.no_grad():\n    w = torch.ones(3, requires_grad=True)\n"
                "y = (w * x).sum()\ny.backward()",
            ),
            ("graph_leaves", "x = 2.0 (data)"),
        ),
        concepts=("C67",),
    ),
    Card(
        key="nodes-are-functions",
        subject="gradients",
        level=2,
        title=N_("What a node of the graph is"),
        claim=N_(
            "A course says: the nodes of PyTorch's graph are tensors, so y is a {wrong} in it."
        ),
        question=N_("Which node does y hang on?"),
        wrong=_INNER + "type(y).__name__",
        right=_INNER + "type(y.grad_fn).__name__",
        other="nn.Parameter.__name__",
        why_other=N_("A parameter is a tensor, too; its node would be AccumulateGrad."),
        why=N_(
            "Nodes are functions of the backward pass, here {right}; gradients flow along the "
            "edges between them."
        ),
        shows="right",
        page="autograd/computation_graph",
        query=(("graph_tensors", "true"),),
        concepts=("C63",),
    ),
    Card(
        key="backward-of-a-vector",
        subject="gradients",
        level=2,
        title=N_("backward of a vector"),
        claim=N_("A course says: backward() works on scalars only. For this vector: {wrong}."),
        wrong=_LEAF + "y.backward()\nx.grad.tolist()",
        right=_LEAF + "y.backward(gradient=torch.ones(2))\nx.grad.tolist()",
        other=_LEAF + "str(x.grad)",
        why_other=N_("So it is before backward has run."),
        why=N_(
            "A vector needs to be told the gradient that comes from above: with `gradient=` any "
            "shape will do. Here {right}."
        ),
        shows="right",
        page="autograd/computation_graph",
        query=(
            ("graph_code", "y = w * x\ny.backward()"),
            ("graph_leaves", "w = [1.0, 2.0]; x = [3.0, 4.0] (data)"),
            ("graph_leaf", "w"),
        ),
        concepts=("C68",),
    ),
    Card(
        key="only-leaves-keep",
        subject="gradients",
        level=2,
        title=N_("Gradients inside the graph"),
        claim=N_("A course says: only leaves have a gradient, so y.grad is {wrong}."),
        question=N_("What is y.grad?"),
        wrong=_INNER + "z = y ** 2\nz.backward()\ny.grad",
        right=_INNER + "y.retain_grad()\nz = y ** 2\nz.backward()\ny.grad.item()",
        other=_INNER + "z = y ** 2\nz.backward()\nw.grad.item()",
        why_other=N_("That is w.grad: three times as much, for y = 3 w."),
        why=N_(
            "Others lose theirs unless they ask for it: after `retain_grad()` it is 2 y = {right}."
        ),
        shows="right",
        written="{:g}",
        page="autograd/computation_graph",
        query=(
            ("graph_code", "y = w * x\ny.retain_grad()\nz = y ** 2\nz.backward()"),
            ("graph_leaves", "w = 2.0; x = 3.0 (data)"),
            ("graph_leaf", "w"),
        ),
        concepts=("C61",),
    ),
    Card(
        key="checkpoint-warns",
        subject="gradients",
        level=2,
        title=N_("checkpoint without use_reentrant"),
        claim=N_("A handbook calls `checkpoint(torch.cos, x)` and expects {wrong}, and no more."),
        wrong=_ZEROS + "checkpoint(torch.cos, x, use_reentrant=False).sum().item()",
        right=_ZEROS + "checkpoint(torch.cos, x).sum().item()",
        other='"RuntimeError"',
        why_other=N_("Not yet: torch announces that it will be one."),
        why=N_("torch wants `use_reentrant` said: today a {right}, later an error. Pass False."),
        shows="right",
        written="{:g}",
        hears_warnings=True,
        page="autograd/accumulation_and_recomputation",
        concepts=("C75",),
    ),
    Card(
        key="checkpoint-each-layer",
        subject="gradients",
        level=3,
        title=N_("A checkpoint for every layer"),
        claim=N_(
            "A lecture says: with a checkpoint around each layer of Linear and ReLU only one of "
            "two tensors a layer is kept, so 16 layers keep {wrong}."
        ),
        question=N_("How much is held for backward?"),
        wrong=_STACK + "run(stack, 0).held / 2 / 2**20",
        right=_STACK + "run(stack, 1).held / 2**20",
        other=_STACK + "run(stack, 4).held / 2**20",
        why_other=N_("That is with four layers a segment: there the gain begins."),
        why=N_(
            "ReLU keeps its output, which is the input of the next Linear: one tensor a layer "
            "already, and a checkpoint keeps just that one. {right}, as without checkpoints."
        ),
        shows="right",
        written="{:.2f} MiB",
        page="autograd/accumulation_and_recomputation",
        query=(("accum_width", "1024"), ("accum_segment", "1")),
        concepts=("C75",),
    ),
    Card(
        key="detach-shares-memory",
        subject="gradients",
        level=1,
        title=N_("A change to a detached tensor"),
        claim=N_("A course says: after this code x is {right}, although only y was changed."),
        question=N_("What is x?"),
        wrong=_ZEROS + "y = x.detach().clone()\ny += 1\nx.tolist()",
        right=_ZEROS + "y = x.detach()\ny += 1\nx.tolist()",
        other=_ZEROS + "x += 1\nx.tolist()",
        why_other=N_("That is what x += 1 gives; y is no part of the graph, and may be written."),
        why=N_(
            "`detach` leaves the graph, not the storage: y and x are the same bytes. With "
            "`.detach().clone()` x stays {wrong}. Source: PyTorch's documentation of Tensor.detach."
        ),
        holds=True,
        shows="right",
        page="autograd/computation_graph",
        query=(
            ("graph_code", "y = x ** 2\nz = y.detach() * x\nz.backward()"),
            ("graph_leaves", "x = 3.0"),
            ("graph_leaf", "x"),
        ),
        concepts=("C67",),
    ),
    Card(
        key="where-lets-nan-through",
        subject="gradients",
        level=3,
        title=N_("A root that where leaves out"),
        claim=N_(
            "A forum says: `where` leaves the root out at x = 0, yet the gradient there is {right}."
        ),
        question=N_("What is the gradient at x = 0?"),
        wrong=_ROOT + "root = torch.where(x > 0, x, 1.0).sqrt()\n" + _CHOSEN.format(root="root"),
        right=_ROOT + _CHOSEN.format(root="x.sqrt()"),
        other=_ROOT + "x.sqrt().sum().backward()\nx.grad.item()",
        why_other=N_("That is the gradient of the root alone."),
        why=N_(
            "The branch not taken gets the gradient 0, and its own derivative is infinite: 0 · ∞ = "
            "{right}. Choose before the root, as the second program does: {wrong}. Source: PyTorch "
            "issue 68425."
        ),
        holds=True,
        shows="right",
        written="{:g}",
        page="autograd/computation_graph",
        query=(
            ("graph_code", "y = torch.where(x > 0, torch.sqrt(x), 0)\ny.backward()"),
            ("graph_leaves", "x = 0.0"),
            ("graph_leaf", "x"),
        ),
        concepts=("C70",),
    ),
)
