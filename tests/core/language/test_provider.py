from core.language import _, current_language, install_provider, ngettext
from core.language.catalogue import translations


def test_english_is_what_the_code_says():
    assert current_language() == "en"
    assert _("loss") == "loss"
    assert _("a text that no catalogue has") == "a text that no catalogue has"
    assert ngettext("one step", "many steps", 2) == "many steps"


def test_the_provider_is_asked_at_every_call():
    asked = iter(["en", "zh", "en"])
    install_provider(lambda: next(asked))
    assert [current_language() for _call in range(3)] == ["en", "zh", "en"]


def test_an_unknown_language_reads_as_english():
    install_provider(lambda: "../../etc")
    assert current_language() == "en"
    assert _("loss") == "loss"


def test_chinese_comes_from_the_catalogue():
    install_provider(lambda: "zh")
    assert _("One minute") == translations("zh").gettext("One minute") != "One minute"
