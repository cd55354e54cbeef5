"""Texts to learn from, all of them on this machine already."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.language import N_, _

MAX_UPLOAD_BYTES: Final = 5_000_000
# Kept by `make translations`: a text to learn from is no reason to know the pages.
LESSONS: Final = Path(__file__).with_name("lessons.txt")
VALIDATION_SHARE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Corpus:
    """A text: its title in English, translated where it is shown; samples begin with the prompt."""

    title: str
    load: Callable[[], str]
    prompt: str


def language_reference() -> str:
    """Return the Python language reference that every Python carries: about 0.5 MB of English."""
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


CORPORA: Final[Mapping[str, Corpus]] = {
    # pydoc_data.topics of the running Python; PSF licence
    "language_reference": Corpus(
        N_("The Python language reference"), language_reference, prompt="The "
    ),
    # the Markdown and lessons.toml under pages/
    "lessons": Corpus(
        N_("This app's own lessons"), lambda: LESSONS.read_text(encoding="utf-8"), prompt=""
    ),
}


def load_corpus(key: str) -> str:
    """Return the text of a row of `CORPORA`."""
    if key not in CORPORA:
        raise ValueError(
            _("There is no text {key!r}; choose {known}, or upload a file.").format(
                key=key, known=_(", ").join(CORPORA)
            )
        )
    return CORPORA[key].load()


def decode_upload(content: bytes) -> str:
    """Return the text of an uploaded file.

    Raises:
        ValueError: If it is empty, above 5 MB, no UTF-8, or binary.
    """
    if not content:
        raise ValueError(_("The file is empty; choose one with text in it."))
    if len(content) > MAX_UPLOAD_BYTES:
        raise ValueError(
            _("The file has {size:,} bytes; at most {most:,} are taken. Cut it shorter.").format(
                size=len(content), most=MAX_UPLOAD_BYTES
            )
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            _("The file is not UTF-8 text (byte {place:,}); save it as UTF-8.").format(
                place=error.start
            )
        ) from None
    if "\0" in text:
        raise ValueError(_("The file is binary (it holds zero bytes); choose a text file."))
    return text


def check_text(text: str, num_tokens: int, vocab_size: int, seq_len: int) -> None:
    """Refuse a text that a run cannot learn from.

    Raises:
        ValueError: If it is empty, of one character, or shorter than the context needs.
    """
    if not text.strip():
        raise ValueError(_("The text is empty; there is nothing to learn."))
    if vocab_size < 2 or not text.strip(text[0]):  # not a set of it: that takes milliseconds
        raise ValueError(
            _("The text repeats one character, {character!r}; there is nothing to predict.").format(
                character=text[0]
            )
        )
    shortest = int((seq_len + 1) / VALIDATION_SHARE) + 1
    if num_tokens < shortest:
        raise ValueError(
            _(
                "The text has {have:,} tokens; a context of {seq_len} needs at least {need:,}, "
                "so that a tenth can be kept for validation. Use a longer text or a context of at "
                "most {fits}."
            ).format(
                have=num_tokens,
                seq_len=seq_len,
                need=shortest,
                fits=max(int(num_tokens * VALIDATION_SHARE) - 1, 0),
            )
        )
