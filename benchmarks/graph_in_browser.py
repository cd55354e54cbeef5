"""How quickly a large graph is drawn in a browser, stepped through, and answered by Python.

A transformer of 533 nodes with every module open, on a page of its own. Goals: drawn within 2 s of
opening the page, a step within 50 ms without Python, from a click to Python's answer 300 ms.

    PYTHONPATH=. python benchmarks/graph_in_browser.py [--blocks 12] [--turns 5]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.start_up import ROOT, free_port, is_healthy, launched_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SCRIPT = """
import streamlit as st

from benchmarks.graph_drawing import opened
from pages.components.computation_graph.computation_graph import computation_graph
from pages.components.computation_graph.texts import draw
from tests.core.autograd.made_captures import transformer


@st.cache_resource
def made():
    capture = transformer({blocks})
    view = opened(capture)
    return capture, view, draw(capture, view)


def choose(what, value):
    st.session_state.told = f"{{what}} {{value}}"


capture, view, drawing = made()
told = st.session_state.get("told", "")
selected = told.removeprefix("selected ") if told.startswith("selected ") else ""
computation_graph(capture, view, drawing, key="picture", on_choice=choose, file_name="graph",
                  selected=selected)
st.text(f"{{len(view.boxes)}} boxes: {{told}}")
"""
# From the key to the frame that shows it: our part alone, and with the browser's own work.
STEPS = """async (picture) => {
  const [own, shown] = [[], []];
  const frame = () => new Promise(requestAnimationFrame);
  const press = (key) => picture.dispatchEvent(new KeyboardEvent("keydown", { key }));
  press("Home");
  for (let step = 0; step < 200; step += 1) {
    await frame();
    const began = performance.now();
    press("]");
    own.push(performance.now() - began);
    picture.getBoundingClientRect();
    await frame();
    shown.push(performance.now() - began);
  }
  return [own, shown];
}"""

CLICK = """(box) => {
  const { left, top, width, height } = box.querySelector("rect").getBoundingClientRect();
  const at = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true };
  const picture = box.closest(".picture");
  picture.dispatchEvent(new PointerEvent("pointerdown", { ...at, button: 0 }));
  picture.dispatchEvent(new PointerEvent("pointerup", at));
}"""


@contextmanager
def served(blocks: int) -> Iterator[str]:
    """Serve the page; yield its address."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "graph.py")
        script.write_text(SCRIPT.format(blocks=blocks), encoding="utf-8")
        command = [sys.executable, "-m", "streamlit", "run", str(script)]
        options = [f"--server.port={port}", "--server.headless=true"]
        server = subprocess.Popen(
            [*command, *options], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            while not is_healthy(port) and server.poll() is None:
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def opened_page(browser: "Browser", address: str, count: int) -> tuple["Page", float]:
    """Open the page; return it, and after how many ms the graph stood there."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    began = time.perf_counter()
    page.goto(address)
    page.locator(".box.ran").nth(count - 1).wait_for(state="attached", timeout=60_000)
    return page, (time.perf_counter() - began) * 1000


def clicked(page: "Page", number: int) -> float:
    """Click a box; return after how many ms Python's answer stands there."""
    box = page.locator(".box").nth(number)
    name = str(box.get_attribute("id")).removeprefix("box-")
    began = time.perf_counter()
    box.evaluate(CLICK)
    page.get_by_text(f"selected {name}", exact=False).first.wait_for()
    return (time.perf_counter() - began) * 1000


def show(what: str, times: list[float], goal: int) -> None:
    """Print one row."""
    median = statistics.median(times)
    word = "yes" if median < goal else "NO"
    print(f"{what:<42}{median:>8.1f} ms (slowest {max(times):.1f}), goal {goal} ms: {word}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    count = 44 * options.blocks + 5
    drawn, own, shown, answered = [], [], [], []
    with served(options.blocks) as address, launched_browser() as browser:
        for turn in range(options.turns + 1):
            page, ms = opened_page(browser, address, count)
            clicks = [clicked(page, count - back) for back in (1, 2, 3)]
            steps = page.locator(".picture").evaluate(STEPS)
            page.close()
            if turn:  # the first one warms the server
                drawn.append(ms)
                own += steps[0]
                shown += steps[1]
                answered += clicks
    print(f"{count} nodes, {options.turns} pages")
    show("drawn after opening the page", drawn, 2000)
    show("a step, this part's own work", own, 50)
    show("a step, until the frame that shows it", shown, 50)
    show("a click until Python's answer stands there", answered, 300)


if __name__ == "__main__":
    main()
