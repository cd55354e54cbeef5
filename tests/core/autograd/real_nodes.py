"""Torch's own nodes, and what they hold as the plain data of a capture."""

import torch

from core.autograd.graph import Node, Saved, TensorInfo


def info(tensor):
    """A tensor as a capture keeps it, with all its values."""
    values = tuple(tensor.detach().reshape(-1).tolist())
    dtype = str(tensor.dtype).removeprefix("torch.")
    return TensorInfo(
        shape=tuple(tensor.shape), dtype=dtype, num_bytes=tensor.nbytes, values=values
    )


def as_node(torch_node, *gradients, label=""):
    """A torch node as a capture's Node, with these incoming gradients."""
    saved, attributes = [], {}
    for key in dir(torch_node):
        if key.startswith("_saved_"):
            name, value = key.removeprefix("_saved_"), getattr(torch_node, key)
            if isinstance(value, torch.Tensor):
                saved.append(keep(name, value))
            elif isinstance(value, tuple | list) and value and hasattr(value[0], "dtype"):
                saved += [keep(f"{name}[{at}]", each) for at, each in enumerate(value)]
            else:
                attributes[name] = str(value)
    return Node(
        id="n0",
        type=type(torch_node).__name__,
        label=label,
        gradients_in=tuple(None if each is None else info(each) for each in gradients),
        saved=tuple(saved),
        attributes=attributes,
    )


def keep(name, tensor):
    return Saved(name=name, tensor=info(tensor), storage="", storage_bytes=tensor.nbytes)


def call(torch_node, *gradients):
    """What the real node answers: a tuple with one gradient for each input."""
    with torch.no_grad():
        answer = torch_node(*gradients)
    return answer if isinstance(answer, tuple) else (answer,)
