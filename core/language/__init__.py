"""The reader's language: English is in the code, Chinese is a gettext catalogue.

Who asks decides: the language is looked up at every call through a provider, so that two readers
of one server never see each other's words.
"""

from core.language.catalogue import LANGUAGES, N_, _, current_language, install_provider, ngettext

__all__ = ["LANGUAGES", "N_", "_", "current_language", "install_provider", "ngettext"]
