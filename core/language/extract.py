"""Collect every text that a reader sees: for the Chinese catalogue, and to train on.

A developer's tool, run by `make translations`; it needs Babel, the dashboard does not. Texts are
the arguments of `_`, `ngettext` and `N_`, the question in the first docstring line of a page, and
in a TOML file of core the values of keys that its first line names ("# Texts: source, note").
The lessons, as Markdown and TOML beside the pages, become one file that a run can learn from.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from core.language.catalogue import DOMAIN, LOCALES

ROOT: Final = Path(__file__).parents[2]
LESSONS: Final = ROOT / "core" / "train" / "text" / "lessons.txt"
LANGUAGE: Final = "zh"
KEYWORDS: Final = {"_": None, "N_": None, "ngettext": (1, 2)}
TEXT_KEYS: Final = re.compile(r"# Texts: ([\w, ]+)")
Message = str | tuple[str, ...]


def source_files(root: Path = ROOT) -> list[Path]:
    """Return every file whose texts a reader can meet, in a stable order."""
    rooms = [path for room in ("core", "pages") for path in sorted((root / room).rglob("*.py"))]
    return [root / "app.py", *rooms, *sorted((root / "core").rglob("*.toml"))]


def is_page(path: Path, root: Path = ROOT) -> bool:
    """Tell whether a file is a page script: pages/<section>/<page>/page.py."""
    parts = path.relative_to(root).parts
    return len(parts) == 4 and parts[0] == "pages" and parts[3] == "page.py"


def page_question(path: Path) -> str:
    """Return the question that a page answers: the first line of its docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def texts_in(path: Path, root: Path = ROOT) -> Iterator[Message]:
    """Yield the texts of one file; a plural is a pair of texts."""
    if path.suffix == ".toml":
        written = path.read_text(encoding="utf-8")
        if named := TEXT_KEYS.match(written):
            yield from _values(tomllib.loads(written), frozenset(named[1].split(", ")))
        return
    with path.open("rb") as file:
        for _line, text, _comments, _context in extract("python", file, KEYWORDS):
            yield text
    if is_page(path, root):
        yield page_question(path)


def _values(data: object, keys: frozenset[str]) -> Iterator[str]:
    if isinstance(data, list):
        for each in data:
            yield from _values(each, keys)
    elif isinstance(data, dict):
        for key, value in data.items():
            if key in keys and isinstance(value, str):
                yield value
            else:
                yield from _values(value, keys)


def collect(root: Path = ROOT) -> Catalog:
    """Return a catalogue of all texts in the code, without translations."""
    template = Catalog(charset="utf-8")
    for path in filter(Path.exists, source_files(root)):
        for text in texts_in(path, root):
            template.add(text)
    return template


def catalogue_path(suffix: str) -> Path:
    """Return where the Chinese catalogue lies: suffix "po" for people, "mo" compiled."""
    return LOCALES / LANGUAGE / "LC_MESSAGES" / f"{DOMAIN}.{suffix}"


def read_catalogue(path: Path) -> Catalog:
    """Return the translations written so far; no file yet means none."""
    if not path.exists():
        return Catalog(locale=LANGUAGE, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=LANGUAGE, charset="utf-8")


def update(catalogue: Catalog, template: Catalog) -> None:
    """Add new texts to `catalogue` and drop those that the code no longer has.

    Similar texts are never guessed at, and dates stay: an update without news changes no byte.
    """
    template.creation_date = catalogue.creation_date
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()


def write(catalogue: Catalog, po: Path) -> None:
    """Write the catalogue for people (.po, sorted by text) and compiled beside it (.mo)."""
    po.parent.mkdir(parents=True, exist_ok=True)
    with po.open("wb") as file:
        write_po(file, catalogue, width=100, no_location=True, sort_output=True)
    with po.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalogue)


def lessons_text(root: Path = ROOT) -> str:
    """Return the app's own lessons, in English and Chinese, as one text.

    They come by path, a dot and a slash alike: by section, page, name and language.
    """
    pages = root / "pages"
    files = [*pages.rglob("*.md"), *pages.rglob("lessons.toml")]
    files.sort(key=lambda file: re.split(r"[/.]", file.relative_to(pages).as_posix()))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def main() -> None:
    """Update what is committed: the catalogue, with a word on what is untranslated; the lessons."""
    catalogue = read_catalogue(catalogue_path("po"))
    update(catalogue, collect())
    write(catalogue, catalogue_path("po"))
    LESSONS.write_text(lessons_text(), encoding="utf-8", newline="\n")
    waiting = [
        str(message.id) for message in catalogue if message.id and not any(message.string or ())
    ]
    sys.stdout.writelines(f"not translated yet: {text}\n" for text in waiting)
    sys.stdout.write(f"{len(catalogue)} texts, {len(waiting)} without Chinese\n")


if __name__ == "__main__":
    main()
