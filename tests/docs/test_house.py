"""The layout: menu, packages and tests bear the same names, and the whole stays small."""

import ast
import graphlib
import importlib
import importlib.util
import re

import pytest

UNNAMED = {"utils", "util", "helpers", "helper", "common", "misc", "lib", "tools"}
OWN_TO_PAGES = {"start", "shared", "components", "server"}
MAX_BODY = 45
MAX_LINES, MAX_FILES = 101_886, 740  # of product and benchmarks together; only an issue raises them
EMPTY = 3  # lines of a file that only says what its folder holds


def python_files(root, *folders):
    return sorted(p for folder in folders for p in (root / folder).rglob("*.py"))


def packages(folder):
    return {p.name for p in folder.iterdir() if p.is_dir() and any(p.rglob("*.py"))}


@pytest.fixture(scope="module")
def imports(root):
    """File -> the files of the product that it imports: for types only and late ones too."""
    paths = [root / "app.py", root / "classroom.py", *python_files(root, "core", "pages")]
    by_name = {name_of(path.relative_to(root)): path.relative_to(root) for path in paths}
    graph = {}
    for path in by_name.values():
        found = set()
        for node in ast.walk(ast.parse((root / path).read_text(encoding="utf-8"))):
            for module, name in imported(node):
                found.add(by_name.get(f"{module}.{name}") or by_name.get(module))
        graph[path] = found - {None, path}
    return graph


def name_of(path):
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imported(node):
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are written in full"
        yield from ((node.module, each.name) for each in node.names)
    elif isinstance(node, ast.Import):
        yield from ((each.name, "") for each in node.names)


def test_no_files_import_each_other_in_a_circle(imports):
    assert len(imports) > 100
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" <- ".join(map(str, error.args[1])))


def test_product_and_benchmarks_stay_within_the_budget_of_the_project(root):
    paths = [*root.glob("*.py"), *python_files(root, "core", "pages", "benchmarks")]
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in paths]
    assert sum(lines) < MAX_LINES
    assert sum(each > EMPTY for each in lines) < MAX_FILES


def test_every_section_of_the_menu_is_a_package_of_core(root):
    # The pages of `plan` look at one plan; its numbers are those of `core.budget`.
    assert packages(root / "pages") - OWN_TO_PAGES - {"plan"} <= packages(root / "core")


def test_every_package_has_tests_under_its_name_and_no_tests_lie_elsewhere(root):
    assert packages(root / "tests" / "core") == packages(root / "core")


def test_every_test_lies_in_a_file_that_is_collected(root):
    for path in python_files(root, "tests"):
        if not path.name.startswith("test_"):
            assert "\ndef test_" not in path.read_text(encoding="utf-8"), path.relative_to(root)


@pytest.mark.parametrize("folder", ["core", "pages", "tests", "benchmarks"])
def test_no_file_or_folder_is_named_after_nothing(root, folder):
    for path in (root / folder).rglob("*"):
        assert path.stem.lower() not in UNNAMED, path.relative_to(root)


def test_the_body_of_a_function_has_at_most_45_lines(root):
    for path in [root / "app.py", *python_files(root, "core", "pages")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert lines <= MAX_BODY, f"{path.relative_to(root)}: {node.name} has {lines}"


def test_nothing_is_left_unfinished(root):
    for path in python_files(root, "core", "pages"):
        text = path.read_text(encoding="utf-8")
        for word in ("TODO", "FIXME", "XXX", "NotImplementedError"):
            assert word not in text, f"{path.relative_to(root)}: {word}"


def test_no_text_names_a_folder_of_one_machine(root):
    for path in [root / "app.py", *python_files(root, "core", "pages", "benchmarks")]:
        text = path.read_text(encoding="utf-8")
        for place in ("/" + "tmp/", "/" + "home/", "/" + "root/"):
            assert place not in text, f"{path.relative_to(root)}: {place}"


def test_a_proof_that_a_file_names_exists(root):
    for path in [*root.glob("*.md"), *python_files(root, "core", "pages", "benchmarks")]:
        for named in re.findall(r"\btests/[\w./]*\.py\b", path.read_text(encoding="utf-8")):
            assert (root / named).exists(), f"{path.relative_to(root)}: {named}"


def test_what_the_benchmarks_take_from_core_is_there(root):
    """No test runs them: a module that moved would be missed only by who measures."""
    for path in python_files(root, "benchmarks"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for module, name in imported(node):
                if name and module.startswith("core."):
                    there = importlib.import_module(module)
                    is_room = hasattr(there, "__path__")
                    is_module = is_room and importlib.util.find_spec(f"{module}.{name}")
                    assert hasattr(there, name) or is_module, f"{path.name}: {module}.{name}"
