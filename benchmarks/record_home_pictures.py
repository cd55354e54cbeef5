"""Compute again what the five pictures of Home show, and write it beside their code.

python -m benchmarks.record_home_pictures        # seconds; then commit steps.json

Home paints before torch is loaded, and two of its pictures come from torch: the graph that the
engine ran, and what a trained GPT says next. So all five are computed once and kept as numbers.
"""

import json
import math
from typing import Any, Final

from core.autograd.collapse import collapse
from core.autograd.layout import layout
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program
from core.budget.budget import at_peak
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.planning.plan import Plan
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.dtypes import FORMATS, FloatFormat
from core.models.depth import depth
from core.tensors.layout import Layout, trace_index
from core.train.learning.opened import open_shipped
from core.train.learning.recording import read_recording
from pages.start.home.steps import STEPS_FILE

NAMES: Final = ("float32", "bfloat16", "float16", "float8_e4m3fn")
TEXT: Final = "The value of an expression is the value of the exp"
LAST: Final = 12  # tokens that are drawn
MOST_CANDIDATES: Final = 5
BOX: Final = (64.0, 44.0)
GAPS: Final = {"gap_across": 30.0, "gap_down": 16.0}
DIGITS: Final = 4  # of a probability: all that a picture of this size can show


def bits() -> dict[str, Any]:
    """Return pi as formats store it: lesson "bits-bf16-half"."""
    rows = []
    for name in NAMES:
        fmt = FORMATS[name]
        if not isinstance(fmt, FloatFormat):
            raise TypeError(f"{name} has no exponent to draw; use a floating-point format")
        code = int(fmt.encode([math.pi])[0])
        rows.append(
            {
                "format": name,
                "bits": f"{code:0{fmt.bits}b}",
                "exponent_bits": fmt.exponent_bits,
                "value": float(fmt.decode([code])[0]),
            }
        )
    return {"rows": rows}


def place() -> dict[str, Any]:
    """Return where an element of a transposed tensor lies: lesson "transpose-is-a-view"."""
    shape, stride, index = (4, 4), (1, 4), (1, 2)
    whole = Layout(shape=shape, stride=stride)
    addresses = [
        [
            sum(step.jump for step in trace_index((row, column), shape, stride))
            for column in range(4)
        ]
        for row in range(4)
    ]
    address = addresses[index[0]][index[1]]
    return {"addresses": addresses, "index": index, "address": address, "numel": whole.numel}


def graph() -> dict[str, Any]:
    """Return the graph that autograd ran, laid out: lesson "what-a-gradient-says"."""
    preset = PRESETS["square"]
    capture = capture_program(preset.source, preset.tensors())
    view = collapse(capture, [], as_tensors=True)
    drawing = layout(view, dict.fromkeys((box.id for box in view.boxes), BOX), **GAPS)
    cut = {link.id for link in view.links if link.is_cut}
    return {
        "size": (drawing.width, drawing.height),
        "boxes": [
            {"kind": box.kind, "label": box.label, "at": drawing.places[box.id]}
            for box in view.boxes
        ],
        "links": [
            {"points": points, "is_cut": name in cut} for name, points in drawing.paths.items()
        ],
        "leaf": preset.nudged,
        "gradient": capture.leaves[preset.nudged].gradient,
    }


def next_token() -> dict[str, Any]:
    """Return where the last token looks and what comes next: lesson "from-text-to-the-next..."."""
    opened = open_shipped(read_recording().steps[-1])
    inside = depth(opened.model, opened.encode(TEXT), None, MOST_CANDIDATES)
    ids = inside.candidates[-1, -1].tolist()
    return {
        "tokens": list(TEXT[-LAST:]),
        "attention": [round(weight, DIGITS) for weight in inside.attention[0, -1, -LAST:].tolist()],
        "candidates": [opened.tokenizer.decode([token]) for token in ids],
        "chances": [round(chance, DIGITS) for chance in inside.chances[-1, -1].tolist()],
    }


def memory() -> dict[str, Any]:
    """Return what each device holds at its peak: lesson "training-five-residents"."""
    model, device = MODELS["llama-3.1-8b"], DEVICES["h100-sxm"]
    cluster = Cluster(device=device, num_devices=8, zero_stage=3)
    recipe = TrainingRecipe(seq_len=8192, checkpointing="full")
    plan = Plan(spec=model, cluster=cluster, recipe=recipe)
    budget = training_budget(model, plan.accumulated, cluster)
    return {
        "model": model.name,
        "device": device.name,
        "num_devices": cluster.num_devices,
        "parts": [(part.name, part.amount) for part in at_peak(budget.largest)],
        "total": plan.need.amount,
        "capacity": budget.capacity,
    }


def record() -> dict[str, Any]:
    """Return the numbers of all five pictures, as JSON keeps them."""
    steps = {
        "bits": bits(),
        "place": place(),
        "graph": graph(),
        "next_token": next_token(),
        "memory": memory(),
    }
    kept: dict[str, Any] = json.loads(json.dumps(steps))
    return kept


if __name__ == "__main__":
    text = json.dumps(record(), ensure_ascii=False, indent=1)
    STEPS_FILE.write_text(f"{text}\n", encoding="utf-8")
