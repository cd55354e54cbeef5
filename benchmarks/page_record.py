"""What every page shows, written down, so that a change can be held against it.

`page_record.py record CHECKOUT FILE --runs DIR` opens every lesson and every tab of a checkout in
Streamlit's own test runner: in both languages, on a screen and on a projector, with its inputs at
both ends and one after the other, locked, in GB, its questions answered. Machine, run and free
memory are fixed. FILE (JSON lines, gzip) has for each address the headline, every element, alt
texts, table columns, snippets and parameters.

`page_record.py compare OLD NEW` prints what differs and fails if something does. It leaves out
how a snippet imports what it uses, and the keys of charts. It is no part of `make bench`.
"""

import argparse
import ast
import gzip
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

Record = dict[str, Any]
LANGUAGES: Final = ("en", "zh")
MOST_TOLD: Final = 20  # differences
MOST_OPTIONS: Final = 12  # of a list whose options are tried one after the other
OF_THE_FRAME: Final = frozenset({"lang", "units", "present", "hide", "lock"})
RUN: Final = "20260102t030405z-recorded-0a0a"
RUN_SETTINGS: Final = ("num_steps=12", "seed=7", "eval_interval=4", "sample_interval=6")
MADE_UP: Final = ("id", "pageScriptHash", "formId", "jsContent", "cssContent", "htmlContent")
DOMAINS: Final[Mapping[str, Callable[..., Any]]] = {
    "number_between": lambda low, high, default: ["number", low, high, default],
    "one_of": lambda options, default: ["options", [str(each) for each in options], str(default)],
    "true_or_false": lambda default: ["options", ["true", "false"], str(default).lower()],
    "text_up_to": lambda max_chars, default: ["text", max_chars, default],
}
"""Who makes what an input accepts -> how that is written down."""


def fix_this_machine() -> None:
    """Let every page see the same machine: its memory, its device, its speeds."""
    import psutil

    memory = psutil.virtual_memory()._replace(total=24 << 30, available=16 << 30)
    psutil.virtual_memory = lambda: memory
    machine = importlib.import_module("core.machine")
    operations = ("create", "convert", "add", "matmul")
    trials = tuple(machine.Trial(operation=each, works=True) for each in operations)
    speeds = (("matmul float32", "FLOP/s"), ("copy", "B/s"))
    cpu = machine.Device(
        kind="cpu",
        torch_name="cpu",
        name="A CPU",
        memory_total=24 << 30,
        memory_free=16 << 30,
        capability="AVX2",
        dtypes=(machine.DtypeVerdict(name="float32", item_bytes=4, trials=trials),),
        speeds=tuple(
            machine.Speed(what=what, unit=unit, median=2e9, low=1e9, high=3e9, num_runs=7)
            for what, unit in speeds
        ),
    )
    probe = machine.Probe(
        torch="2.13.0+cpu",
        cuda=None,
        rocm=None,
        kernels=("oneDNN v3.12.0",),
        num_threads=2,
        cpu_name="A CPU",
        features=(("AVX2", True), ("AMX", False)),
        devices=(cpu,),
    )
    machine.keep_probe(probe)


def plain(column: Any) -> list[str]:  # noqa: ANN401  columns hold texts, numbers, arrays
    """Return a column of a table as JSON can hold it, every digit of its numbers."""
    return [repr(each) if isinstance(each, float) else str(each) for each in list(column)]


class Recorder:
    """Opens pages of the checkout in the working directory and writes down what they show."""

    def __init__(self) -> None:
        fix_this_machine()
        self._makers: dict[int, tuple[object, list[Any]]] = {}
        self.domains: dict[str, list[Any] | None] = {}
        self.pictures: list[Record] = []
        accepts = importlib.import_module("pages.shared.accepts")
        for name, domain in DOMAINS.items():
            setattr(accepts, name, self._noting(getattr(accepts, name), domain))
        stand_before("pages.shared.inputs", "pick", self._note_input)
        stand_before("pages.shared.charts", "show_chart", self._note_picture)

    def _noting(self, make: Callable[..., Any], domain: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            accepted = make(*args, **kwargs)
            # The function itself is kept too: a number alone would soon name another one.
            self._makers[id(accepted.read)] = (accepted.read, domain(*args, **kwargs))
            return accepted

        return made

    def _note_input(self, page: str, name: str, *more: Any, **_kwargs: Any) -> None:  # noqa: ANN401
        known = self._makers.get(id(more[0].read))
        self.domains[f"{page}_{name}"] = known[1] if known else None

    def _note_picture(self, picture: Any, **kwargs: Any) -> None:  # noqa: ANN401
        self.pictures.append(
            {
                "alt": picture.alt,
                "table": [[str(name), plain(column)] for name, column in picture.table.items()],
                "file_name": kwargs["file_name"],
                "clickable": kwargs.get("on_click") is not None,
            }
        )

    def opened(self, page: str, query: Mapping[str, str], **state: object) -> Any:  # noqa: ANN401
        """Return a page as an AppTest, run once at that address in that session state."""
        from streamlit.testing.v1 import AppTest
        from streamlit.util import calc_hash

        from pages.shared.navigation import PAGES, page_row

        app = AppTest.from_file(str(Path("pages/frame.py").resolve()), default_timeout=300)
        app._page_hash = calc_hash("" if page == PAGES[0].key else page_row(page).address)
        app.query_params.update(query)
        for name, value in state.items():
            app.session_state[name] = value
        self.pictures = []
        return app.run()

    def written(self, app: Any) -> Record:  # noqa: ANN401
        """Return what a page shows."""
        state = app.session_state
        parameters = {
            each.name: [each.value, each.default, each.visible, self.domains.get(each.name)]
            for each in state["frame_book"].parameters.values()
        }
        return {
            "headline": state["headline"],
            "exceptions": [each.message for each in app.exception],
            "snippets": dict(state["snippets"]),
            "pictures": self.pictures,
            "parameters": parameters,
            "elements": sorted(elements(app._tree)),
        }


def stand_before(module: str, name: str, note: Callable[..., None]) -> None:
    """Call `note` before a function, wherever it was imported to and will be."""
    known = getattr(importlib.import_module(module), name)

    def noted(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        note(*args, **kwargs)
        return known(*args, **kwargs)

    for each in list(sys.modules.values()):
        if getattr(each, name, None) is known:
            setattr(each, name, noted)


def elements(node: Any) -> Iterator[str]:  # noqa: ANN401  a node of Streamlit's tree
    """Yield what every element below a node says, without what Streamlit makes up for it.

    Style sheets and the programs of browser parts are files: they are not written down, nor is in
    which order elements stand, which a page may change when it gets another layout.
    """
    from google.protobuf.json_format import MessageToDict

    children = getattr(node, "children", None)
    if children is not None:
        proto = getattr(node, "proto", None)
        for kind in ("expandable", "popover"):
            if label := getattr(getattr(proto, kind, None), "label", ""):
                yield json.dumps([kind, "", label], ensure_ascii=False)
        for child in children.values():
            yield from elements(child)
    elif node.type != "html" or not node.proto.body.lstrip().startswith("<style"):
        said = MessageToDict(node.proto)
        said = {name: value for name, value in said.items() if name not in MADE_UP}
        key = re.sub(r"^\$\$ID-[0-9a-f]+-", "", getattr(node.proto, "id", ""))
        shown = "" if node.type == "plotly_chart" else key
        yield json.dumps([node.type, shown, said], sort_keys=True, ensure_ascii=False)


def at_an_end(domains: Mapping[str, Any], *, low: bool) -> dict[str, str]:
    """Return every number and choice at one of its ends; what is typed stays."""
    found = {}
    for name, (kind, *values) in domains.items():
        if kind == "number":
            found[name] = f"{values[0] if low else values[1]:g}"
        elif kind == "options":
            found[name] = values[0][0 if low else -1]
    return found


def one_by_one(domains: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield settings in which a single choice or number leaves its default."""
    for name, (kind, *values) in domains.items():
        if kind == "number":
            yield from ({name: f"{value:g}"} for value in values[:2])
        elif kind == "options":
            options, default = values
            step = -(-len(options) // MOST_OPTIONS)
            tried = dict.fromkeys([*options[::step], options[-1]])
            yield from ({name: option} for option in tried if option != default)


class Tour:
    """All addresses of a page, each opened once."""

    def __init__(self, page: str) -> None:
        self.recorder, self.page = Recorder(), page
        self.records: dict[str, Record] = {}

    def visit(self, query: Mapping[str, str]) -> Record:
        """Open an address and write down what it shows."""
        name = f"{self.page}?{urlencode(sorted(query.items()))}"
        if name not in self.records:
            self.records[name] = self.recorder.written(self.recorder.opened(self.page, query))
        return self.records[name]

    def plainly(self, query: Mapping[str, str]) -> Record:
        """Open an address in English on a screen."""
        return self.visit({**query, "lang": "en", "present": "0"})

    def in_every_look(self, query: Mapping[str, str]) -> None:
        """Open an address in both languages, on a screen and on a projector."""
        for language in LANGUAGES:
            for present in "01":
                self.visit({**query, "lang": language, "present": present})

    def domains(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return what the page's own visible inputs accept at an address, its tabs apart."""
        parameters = self.plainly(query)["parameters"]
        return {
            name: domain
            for name, (_value, _default, visible, domain) in parameters.items()
            if visible and domain and name not in OF_THE_FRAME and name not in query
        }

    def tabs(self) -> list[dict[str, str]]:
        """Return the settings that open each tab; of a page without tabs none."""
        for name, (_kind, *values) in self.domains({}).items():
            if name.endswith("_tab"):
                return [{name: option} for option in values[0]]
        return [{}]

    def take(self) -> dict[str, Record]:
        """Open everything, and return what was seen."""
        for tab in self.tabs():
            self.in_every_look(tab)
            domains = self.domains(tab)
            for low in (True, False):
                self.in_every_look({**tab, **at_an_end(domains, low=low)})
            for setting in one_by_one(domains):
                self.plainly({**tab, **setting})
            for more in ({"lock": "1"}, {"units": "GB"}):
                self.plainly({**tab, **more})
            for language in LANGUAGES:
                self.answer({**tab, "lang": language, "present": "0"})
        self.lessons()
        return self.records

    def answer(self, query: Mapping[str, str]) -> None:
        """Answer every question of an address, each with its first answer."""
        questions = [each.key for each in self.recorder.opened(self.page, query).radio]
        state = dict.fromkeys(questions, 0) | {f"{key}_committed": True for key in questions}
        app = self.recorder.opened(self.page, query, **state)
        name = f"{self.page}?{urlencode(sorted(query.items()))} answered"
        self.records[name] = self.recorder.written(app)

    def lessons(self) -> None:
        """Open every lesson of the page."""
        from pages.shared.lessons import lessons_of

        for lesson in lessons_of(self.page):
            self.in_every_look(lesson.query)


def make_run(checkout: Path, folder: Path) -> None:
    """Train a tiny GPT under a fixed name, once for both sides of a comparison."""
    command = [sys.executable, "-m", "core.train", "start", "--runs", str(folder)]
    for setting in RUN_SETTINGS:
        command += ["--set", setting]
    subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
    made = next(folder.iterdir())
    while (state := json.loads((made / "state.json").read_bytes())["state"]) != "finished":
        if state == "failed":
            raise SystemExit((made / "stdout.log").read_text(encoding="utf-8"))
        time.sleep(1)
    made.rename(folder / RUN)


def page_keys(checkout: Path) -> list[str]:
    """Return the keys of all pages of a checkout."""
    program = "from pages.shared.navigation import PAGES; print(*[row.key for row in PAGES])"
    command = [sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    child = subprocess.run(command, cwd=checkout, env=environment, check=True, capture_output=True)
    return child.stdout.decode().split()


def record(checkout: Path, target: Path, runs: Path, num_children: int) -> None:
    """Record all pages of a checkout, each in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        fixed = {"PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        environment = os.environ | fixed | {"B2G_RUNS_DIR": str(runs)}
        if not runs.exists():
            runs.mkdir(parents=True)
            os.environ["B2G_STATE_DIR"] = place
            make_run(checkout, runs)

        def one(key: str) -> dict[str, Record]:
            own = Path(place) / key.replace("/", "-")
            answer = own.with_suffix(".json")
            command = [sys.executable, str(Path(__file__).resolve()), "page", key, str(answer)]
            subprocess.run(
                command, cwd=checkout, env=environment | {"B2G_STATE_DIR": str(own)}, check=True
            )
            found: dict[str, Record] = json.loads(answer.read_text(encoding="utf-8"))
            return found

        with ThreadPoolExecutor(num_children) as pool:
            pages = list(pool.map(one, page_keys(checkout)))
    with gzip.open(target, "wt", encoding="utf-8") as file:
        for page in pages:
            for address, seen in page.items():
                file.write(json.dumps([address, seen], ensure_ascii=False) + "\n")
    print(f"{sum(map(len, pages)):,} addresses of {len(pages)} pages in {target}")


def read(path: Path) -> dict[str, Record]:
    """Return a record by address."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return dict(json.loads(line) for line in file)


def without_imports(source: str) -> list[str]:
    """Return what a snippet does, and which names it imports, wherever from."""
    tree = ast.parse(source)
    imports = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    names = sorted(alias.name for each in imports for alias in each.names)
    rest = [ast.unparse(each) for each in tree.body if each not in imports]
    return [*names, *rest]


def as_sent(element: str) -> str:
    """Return an element with its picture taken apart.

    The order of fields and that of settings in a link say nothing, and no notes or no shapes are
    the same as an empty list.
    """
    kind, key, said = json.loads(element)
    if kind == "download_button":
        said.pop("deferredFileId", None)
    if kind == "page_link" and isinstance(said.get("queryString", ""), str):
        said["queryString"] = sorted(parse_qsl(said.get("queryString", ""), keep_blank_values=True))
    if kind == "bidi_component" and isinstance(said.get("json"), str):
        said["json"] = json.loads(said["json"])
    if kind == "plotly_chart" and isinstance(said["spec"], str):
        said["spec"] = json.loads(said["spec"])
        layout = said["spec"]["layout"]
        for name in ("annotations", "shapes"):
            if layout.get(name) == []:
                del layout[name]
    return json.dumps([kind, key, said], sort_keys=True, ensure_ascii=False)


def paths(old: object, new: object, path: str = "") -> Iterator[str]:
    """Yield where two JSON values differ, and how."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from paths(old.get(name), new.get(name), f"{path}.{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from paths(*pair, f"{path}[{number}]")
    elif old != new:
        yield f"{path}: {old!r:.200} -> {new!r:.200}"


def element_differences(old: Record, new: Record) -> Iterator[tuple[str, str]]:
    """Yield the elements that are gone, new or changed; two of one kind and key are one changed."""
    count = Counter(map(as_sent, old["elements"]))
    count.subtract(Counter(map(as_sent, new["elements"])))
    gone, come = [
        [json.loads(element) for element, number in count.items() if sign * number > 0]
        for sign in (1, -1)
    ]
    for kind, key, said in gone:
        other = next((each for each in come if each[:2] == [kind, key]), None)
        if other is None:
            yield f"{kind} gone", f"{key} {said!r:.300}"
        else:
            come.remove(other)
            yield f"{kind} changed", f"{key} " + "; ".join([*paths(said, other[2])][:6])
    yield from ((f"{kind} new", f"{key} {said!r:.300}") for kind, key, said in come)


def differences(old: Record, new: Record) -> Iterator[tuple[str, str]]:
    """Yield what differs between two looks at an address: what, and how."""
    for name in ("headline", "exceptions", "pictures", "parameters"):
        if old[name] != new[name]:
            yield name, "; ".join([*paths(old[name], new[name])][:6])
    for name in sorted({*old["snippets"], *new["snippets"]}):
        sources = [each["snippets"].get(name, "") for each in (old, new)]
        if without_imports(sources[0]) != without_imports(sources[1]):
            yield f"snippet {name}", f"{sources[0]}\n    -> {sources[1]}"
    yield from element_differences(old, new)


def compare(old: Path, new: Path) -> int:
    """Print what differs between two records; return how many addresses differ."""
    before, after = read(old), read(new)
    kinds: Counter[str] = Counter()
    told: set[str] = set()
    for address in {**before, **after}:
        one, other = before.get(address), after.get(address)
        found = [*differences(one, other)] if one and other else [("address", "gone or new")]
        kinds.update(f"{address.partition('?')[0]}: {what}" for what, _how in found)
        for what, how in found:
            if how not in told and len(told) < MOST_TOLD:
                told.add(how)
                print(f"{address}\n  {what}: {how}\n")
    for kind, count in kinds.most_common():
        print(f"  {kind}: {count:,}")
    print(f"{len(before):,} addresses before, {len(after):,} now, {kinds.total():,} differences")
    return kinds.total()


def main() -> None:
    """Record a checkout, or compare two records."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = parser.add_subparsers(dest="what", required=True)
    recording = parts.add_parser("record", help="write down what a checkout shows")
    recording.add_argument("checkout", type=Path)
    recording.add_argument("target", type=Path)
    recording.add_argument("--runs", type=Path, required=True, help="made once, used by both")
    recording.add_argument("--children", type=int, default=2)
    one = parts.add_parser("page", help="one page, of the checkout in the working directory")
    one.add_argument("key")
    one.add_argument("target", type=Path)
    comparing = parts.add_parser("compare", help="say what differs between two records")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    given = parser.parse_args()
    if given.what == "page":
        sys.path.insert(0, str(Path.cwd()))
        seen = Tour(given.key).take()
        given.target.write_text(json.dumps(seen, ensure_ascii=False), encoding="utf-8")
    elif given.what == "record":
        record(given.checkout.resolve(), given.target, given.runs.resolve(), given.children)
    elif compare(given.old, given.new):
        sys.exit(1)


if __name__ == "__main__":
    main()
