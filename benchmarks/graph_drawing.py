"""How quickly a graph is made ready to be drawn: collapsed, laid out, written as rows.

Transformers of several sizes, made by hand so that torch takes no part; every module is open. Wall
times of one thread: the median of interleaved turns, and the slowest. The goal is a layout of 531
nodes below 25 ms.

    PYTHONPATH=. python benchmarks/graph_drawing.py [--turns 9]
"""

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial

from core.autograd.collapse import View, collapse
from core.autograd.graph import Capture
from core.autograd.layout import layout
from core.autograd.module_groups import items_of
from pages.components.computation_graph.rows import graph_rows
from pages.components.computation_graph.texts import draw
from tests.core.autograd.made_captures import transformer

BLOCKS = (1, 3, 6, 12)
SIZE = (120.0, 72.0)


def opened(capture: Capture) -> View:
    """Return a view with every node in it, however many there are."""
    paths = {path for item in items_of(capture).values() for path in item.paths}
    return collapse(capture, expanded=paths, depth=1)


def timed(times: list[float], make: Callable[[], object]) -> None:
    """Note how many ms a call takes."""
    start = time.perf_counter()
    make()
    times.append((time.perf_counter() - start) * 1000)


def main(turns: int) -> None:
    """Print a row a graph."""
    graphs = [transformer(blocks) for blocks in BLOCKS]
    times: dict[tuple[int, str], list[float]] = defaultdict(list)
    for _ in range(turns):
        for at, capture in enumerate(graphs):
            view = opened(capture)
            drawing = draw(capture, view)
            sizes = dict.fromkeys(drawing.places, SIZE)
            timed(times[at, "collapse"], partial(collapse, capture))
            timed(times[at, "layout"], partial(layout, view, sizes))
            timed(times[at, "rows"], partial(graph_rows, capture, view, drawing))
    for at, capture in enumerate(graphs):
        view = opened(capture)
        rows = json.dumps(graph_rows(capture, view, draw(capture, view)))
        shown = [
            f"{what} {statistics.median(found):6.1f} ms (slowest {max(found):6.1f})"
            for (graph, what), found in times.items()
            if graph == at
        ]
        size = f"{len(view.boxes):4} boxes, {len(rows) / 1024:6.0f} KiB of rows"
        sys.stdout.write(f"{size}: {', '.join(shown)}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=9)
    main(parser.parse_args().turns)
