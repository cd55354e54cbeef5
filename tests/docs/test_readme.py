"""What the README says is true: commands, versions, the house picture, pictures and links."""

import re
import subprocess
import sys

import pytest

READMES = ["README.md", "README.zh.md"]
DOCUMENTS = [*READMES, "CONTRIBUTING.md", "CHANGELOG.md"]


def blocks(text, language):
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for name, block in fenced if name == language]


def house(text):
    """Yield the paths of the house picture; two spaces of indent are one folder."""
    picture = next(b for b in blocks(text, "") if b.startswith("app.py"))
    folders = []
    for line in picture.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        folders = [*folders[:depth], line.split()[0]]
        yield "".join(folders)


@pytest.fixture(params=READMES)
def readme(request, root):
    return (root / request.param).read_text(encoding="utf-8")


def test_the_first_screen_has_a_picture_one_sentence_and_two_commands(readme):
    first_screen = readme.splitlines()[:12]
    assert first_screen[2].startswith("![")
    assert first_screen[4].startswith("**")
    commands = [line.split("#")[0].strip() for line in first_screen if line.startswith("make")]
    assert commands == ["make run", "make test"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_picture_and_link_leads_somewhere(root, document):
    text = (root / document).read_text(encoding="utf-8")
    links = [x for x in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in x]
    assert [link for link in links if not (root / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_target_exists(root, document):
    text = (root / document).read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), flags=re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, flags=re.MULTILINE))
    assert named <= targets


def test_every_place_in_the_house_picture_exists(root):
    places = list(house((root / "README.md").read_text(encoding="utf-8")))
    assert len(places) > 10
    assert [place for place in places if not (root / place).exists()] == []


def test_the_house_picture_shows_every_room_and_section(root):
    places = set(house((root / "README.md").read_text(encoding="utf-8")))
    for folder in ("pages", "core"):
        for room in (root / folder).iterdir():
            if room.is_dir() and any(room.glob("*.py")):
                assert f"{folder}/{room.name}/" in places, room


def test_the_arrows_are_those_that_the_build_enforces(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    picture = next(b for b in blocks(text, "") if b.startswith("app ->"))
    rules = (root / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'"(core\.[a-z.| ]+)"', rules.split("layers = [")[1].split("]")[0])
    assert [name.strip() for name in picture.split("->")][2:] == layers


def test_torch_has_the_same_version_everywhere(root, readme):
    pinned = re.search(r"^torch==(\S+)$", (root / "requirements.txt").read_text(), re.MULTILINE)[1]
    assert set(re.findall(r"torch==([\d.]+)", readme)) <= {pinned}


@pytest.mark.slow
def test_every_program_of_core_knows_the_options_that_are_written(root, readme):
    for module, words in re.findall(r"python -m (core\S*)([^#\n]*)", readme):
        command = words.partition(" --")[0].split()
        told = subprocess.run(
            [sys.executable, "-m", module, *command, "--help"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for option in re.findall(r"--[a-z-]+", words):
            assert option in told, f"{module} {option}"


def test_every_requirement_is_pinned_exactly(root):
    for name in ("requirements.txt", "tests/requirements.txt"):
        lines = (root / name).read_text(encoding="utf-8").splitlines()
        for line in lines:
            assert re.fullmatch(r"#.*|-r \S+|[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.]*", line), line


def test_every_requirement_is_imported_by_the_product(root):
    pinned = re.findall(r"^([a-z]+)==", (root / "requirements.txt").read_text(), re.MULTILINE)
    sources = [root / "app.py", *(root / "core").rglob("*.py"), *(root / "pages").rglob("*.py")]
    imported = set()
    for path in sources:
        found = re.findall(
            r"^\s*(?:import|from) ([a-z_0-9]+)", path.read_text("utf-8"), re.MULTILINE
        )
        imported.update(found)
    through_streamlit = {"pandas"}  # every table of a page is drawn with it
    assert [name for name in pinned if name not in imported | through_streamlit] == []
