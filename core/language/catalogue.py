"""Look words up in the catalogue of the language that the provider names."""

import gettext as gnu_gettext
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "zh": "中文"}
LOCALES: Final = Path(__file__).parent / "locales"
DOMAIN: Final = "messages"


def _english() -> str:
    return "en"


_provider: Callable[[], str] = _english


def install_provider(provider: Callable[[], str] | None) -> None:
    """Ask `provider` for the current language from now on; None goes back to English."""
    global _provider  # noqa: PLW0603  one process has one way to ask; the answer is never kept
    _provider = provider or _english


def current_language() -> str:
    """Return "en" or "zh"; a language that is not spoken here reads as English."""
    language = _provider()
    return language if language in LANGUAGES else "en"


def _(message: str, /, **fields: object) -> str:
    """Return `message` in the current language, with the fields in its braces if there are any."""
    found = translations(current_language()).gettext(message)
    return found.format(**fields) if fields else found


def ngettext(singular: str, plural: str, count: int) -> str:
    """Return the form of the message for `count` in the current language."""
    return translations(current_language()).ngettext(singular, plural, count)


def N_(message: str) -> str:  # noqa: N802  gettext's own name
    """Mark a constant for the catalogue; it is translated where it is drawn, with `_`."""
    return message


@cache
def translations(language: str) -> gnu_gettext.NullTranslations:
    """Return the catalogue of a language; English is the messages themselves."""
    return gnu_gettext.translation(DOMAIN, LOCALES, [language], fallback=True)
