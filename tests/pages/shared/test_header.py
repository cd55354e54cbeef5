"""The top of a page: title, question, lessons of the page, the next lesson, tools."""

import json

LESSONS = """
[[lesson]]
slug = "seven"
page = "demo/one"
query = { d_n = "7" }
title = { en = "Seven", zh = "七" }
headline = { en = "n is 7", zh = "n 等于 7" }
concepts = ["C156"]
level = 1
[[lesson]]
slug = "other"
page = "demo/two"
title = { en = "Elsewhere", zh = "别处" }
headline = { en = ".", zh = "." }
concepts = []
level = 2
"""
PAGE = '''"""How many?

More words."""
page_header(__doc__)
n = d.slider("n", "N", 0, 10, default=3, step=1)
x = d.slider("x", "X", 0, 10, default=4, step=1)
headline(f"n is {n}")
'''


def open_with_lessons(house, open_script, **query):
    (house / "lessons.toml").write_text(LESSONS, encoding="utf-8")
    return open_script(PAGE.replace('"""', "__doc__ = '''", 1).replace('"""', "'''", 1), **query)


def links(app):
    """Return the lessons of the opened list, then the arrows."""
    app.session_state["lesson_list_wanted"] = True
    return [(link.label, link.proto.query_string) for link in app.run().get("page_link")]


def told(app):
    """Return what the control of the lessons says."""
    return next(
        each.proto.popover.label
        for each in app.get("popover")
        if "esson" in each.proto.popover.label
    )


def parts(app):
    return {
        part.proto.component_name: json.loads(part.proto.json or "[{}]")[0]
        for part in app.get("bidi_component")
    }


def test_title_comes_from_the_menu_and_the_question_from_the_docstring(house, open_script):
    app = open_with_lessons(house, open_script)
    assert app.title[0].value == "One"
    assert app.caption[0].value == "How many?"
    assert app.session_state["headline"] == "n is 3"


def test_lessons_of_the_page_say_every_setting_so_that_a_click_shows_one_picture(
    house, open_script
):
    app = open_with_lessons(house, open_script, d_x="9")
    seven = "d_n=7&d_x=4"
    assert links(app) == [("1 · Seven", seven), ("Next: Seven", seven)]
    assert told(app) == "1 lesson"


def test_the_list_of_lessons_is_made_when_it_is_wanted(house, open_script):
    app = open_with_lessons(house, open_script)
    assert [each.label for each in app.get("page_link")] == ["Next: Seven"]


def test_the_lesson_on_show_is_marked_and_the_next_one_offered(house, open_script):
    app = open_with_lessons(house, open_script, d_n="7")
    assert [label for label, _query in links(app)] == ["**● 1 · Seven**", "Next: Elsewhere"]
    assert told(app) == "Lesson 1 of 1 · Seven"


def test_a_page_has_its_tools(house, open_script):
    app = open_with_lessons(house, open_script)
    assert {"copy_link", "key_map", "reader"} <= set(parts(app))
    settings = {each["name"]: each for each in parts(app)["copy_link"]["settings"]}
    assert settings["d_n"] == {"name": "d_n", "value": "3", "default": "3", "follows": True}
    assert {"lang", "units", "present", "hide", "lock", "d_x"} <= set(settings)


def test_a_hidden_or_refused_setting_does_not_follow_the_address(house, open_script):
    app = open_with_lessons(house, open_script, d_n="7", d_x="99", hide="n")
    settings = {each["name"]: each for each in parts(app)["copy_link"]["settings"]}
    assert settings["d_n"] == {"name": "d_n", "value": "7", "default": "3", "follows": False}
    assert settings["d_x"] == {"name": "d_x", "value": "4", "default": "4", "follows": False}


def test_a_page_without_a_header_still_opens(open_script):
    app = open_script('st.title("Bare")')
    assert app.title[0].value == "Bare"
