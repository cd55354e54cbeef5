"""The command for a class: which options Streamlit gets, and what it refuses."""

import subprocess
import sys

import pytest

ROOT_FILE = "classroom.py"


def run(root, *arguments, **environment):
    return subprocess.run(
        [sys.executable, ROOT_FILE, *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("0.0.0.0", "not one address of this computer"),  # noqa: S104
        ("192.0.2.255", "not one address of this computer"),
        ("teacher.local", "is no IPv4 address"),
    ],
)
def test_an_address_that_is_not_one_of_ours_ends_it_with_a_sentence(root, address, sentence):
    ended = run(root, "--address", address)
    assert ended.returncode == 1
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr


def test_streamlit_is_bound_to_one_address_and_answers_to_three_names(root):
    import importlib.util

    spec = importlib.util.spec_from_file_location("classroom_command", root / ROOT_FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    options = module.streamlit_options("192.168.1.34", "8600", headless=True)
    assert options == [
        "run",
        str(root / "app.py"),
        "--server.address=192.168.1.34",
        "--browser.serverAddress=192.168.1.34",
        "--server.allowedHosts=localhost",
        "--server.allowedHosts=127.0.0.1",
        "--server.allowedHosts=192.168.1.34",
        "--server.port=8600",
        "--server.headless=true",
    ]
