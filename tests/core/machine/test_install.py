"""The install lines: checked with pip's own reading of versions and with requirements.txt."""

import ast
import re
import shlex
import urllib.parse

import pytest
from packaging.requirements import Requirement

from core.machine.install import (
    BUILDS,
    TORCH_VERSION,
    find_build,
    install_plan,
)

PAIRS = [(system, build.key) for build in BUILDS for system in build.indexes]


def torch_requirement(plan):
    words = shlex.split(plan.torch_line)
    assert words[:2] == ["pip", "install"]
    return Requirement(words[2])


def test_the_version_is_the_one_that_requirements_pin(root):
    pins = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert f"torch=={TORCH_VERSION}" in pins


@pytest.mark.parametrize(("system", "build"), PAIRS)
def test_each_line_installs_a_torch_that_requirements_accept(system, build):
    plan = install_plan(system, build)
    # A wheel from an index carries a local version; the pin of requirements.txt must take it.
    for version in (TORCH_VERSION, f"{TORCH_VERSION}+cpu", f"{TORCH_VERSION}+cu130"):
        assert torch_requirement(plan).specifier.contains(version), version
    assert plan.commands.index(plan.torch_line) < plan.commands.index(
        "pip install -r requirements.txt"
    )
    assert plan.commands[-1] == "streamlit run app.py"


@pytest.mark.parametrize(("system", "build"), PAIRS)
def test_the_check_prints_the_version_and_asks_for_an_accelerator_only_where_there_is_one(
    system, build
):
    [program] = re.findall(r'python -c "(.*)"', install_plan(system, build).check)
    [call] = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)][:1]
    shown = [ast.unparse(each) for each in call.args]
    assert shown[0] == "torch.__version__"
    assert len(shown) == (1 if build == "cpu" else 2)
    assert all(each.endswith(".is_available()") for each in shown[1:])


def test_only_pytorchs_own_wheel_index_is_named_and_only_lines_that_exist():
    seen = set()
    for system, build in PAIRS:
        for url in re.findall(r"https?://\S+", install_plan(system, build).torch_line):
            parts = urllib.parse.urlsplit(url)
            assert (parts.scheme, parts.netloc) == ("https", "download.pytorch.org"), url
            seen.add(parts.path.removeprefix("/whl/"))
    assert seen == {"cpu", "cu126", "cu130", "rocm7.2"}  # for torch 2.13: no cu118, no cu121


@pytest.mark.parametrize(
    ("system", "build", "rest"),
    [
        ("linux", "cpu", " --index-url https://download.pytorch.org/whl/cpu"),
        ("linux", "cuda", ""),  # PyPI's Linux wheel is the CUDA build
        ("windows", "cpu", ""),  # PyPI's Windows wheel is the CPU build
        ("macos", "mps", ""),
    ],
)
def test_plain_pip_is_cuda_on_linux_and_cpu_elsewhere(system, build, rest):
    assert install_plan(system, build).torch_line == f"pip install torch==2.13.0{rest}"


def test_a_wheel_that_does_not_exist_is_explained():
    with pytest.raises(ValueError, match=r"no wheel for “Apple GPU” on Linux; .* for macOS"):
        install_plan("linux", "mps")
    with pytest.raises(ValueError, match="There is no build 'tpu'; choose cpu, cuda"):
        find_build("tpu")
