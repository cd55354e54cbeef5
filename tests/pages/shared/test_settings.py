"""Language, units, projector: chosen once, kept in the address, never held in a global."""

import pytest

from core.language import current_language
from pages.shared import settings

SAYS = 'st.text(f"{look().unit} {look().present} {look().mode} {locked()}")'


def test_the_defaults_are_constants(open_script):
    assert open_script(SAYS).text[0].value == "GiB False light False"


def test_the_address_sets_all_of_them(open_script):
    app = open_script(SAYS, units="GB", present="1", lock="1", lang="zh")
    assert app.text[0].value == "GB True light True"
    assert app.query_params == {"units": "GB", "present": "1", "lock": "1", "lang": "zh"}


@pytest.mark.parametrize(
    ("name", "value", "allowed", "used"),
    [
        ("lang", "fr", "`en`, `zh`", "en"),
        ("units", "TB", "`GiB`, `GB`", "GiB"),
        ("present", "yes", "`0`, `1`", "0"),
        ("lock", "2", "`0`, `1`", "0"),
    ],
)
def test_what_nobody_knows_is_refused_by_name(open_script, said, name, value, allowed, used):
    app = open_script(SAYS, **{name: value})
    assert said(app) == [
        f"The link's value `{name}` = `{value}` was not accepted: "
        f"allowed is one of {allowed}; `{used}` is used instead."
    ]
    assert app.text[0].value == "GiB False light False"


def test_a_click_on_a_switch_writes_the_address(open_script):
    app = open_script(SAYS)
    app.button_group(key="units_choice").set_value("GB").run()
    app.button_group(key="lang_choice").set_value("zh").run()
    assert app.query_params == {"units": "GB", "lang": "zh"}
    assert app.text[0].value.startswith("GB")


def test_the_language_is_asked_for_inside_a_fragment_too(open_script):
    source = """
from core.language import current_language
@st.fragment
def part():
    st.button("again", key="again")
    st.text(current_language())
part()
"""
    app = open_script(source, lang="zh")
    app.button(key="again").click().run()
    assert app.text[0].value == "zh"


def test_two_readers_do_not_share_a_language(open_script):
    source = "from core.language import current_language\nst.text(current_language())"
    chinese, english = open_script(source, lang="zh"), open_script(source)
    assert [chinese.run().text[0].value, english.run().text[0].value] == ["zh", "en"]


def test_outside_a_page_the_defaults_hold(open_script):
    open_script("", lang="zh")  # installs the provider
    assert current_language() == "en"
    assert settings.unit_system() == "GiB"
