"""What a page shows, as its tests read it, and the answer to a question."""

import json

OWN = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
    "max_position_embeddings": 1024,
}


def headline(app):
    """Return the headline of a page that shows no exception."""
    assert [each.value for each in app.exception] == []
    return app.session_state["headline"]


def alt(app):
    (chart,) = app.get("plotly_chart")
    return chart.proto.alt


def captions(app):
    return [each.value for each in app.caption]


def texts(app):
    return [each.value for each in (*app.markdown, *app.caption)]


def said(app):
    return "\n".join(texts(app))


def page_links(app):
    return [each.proto for each in app.get("page_link")]


def browser_part(app, name):
    """Return what the page sends to the one browser part of that name."""
    parts = [each.proto for each in app.get("bidi_component")]
    (sent,) = [json.loads(each.json) for each in parts if each.component_name == name]
    return sent


def ask(key):
    """Return what a link says to open the question of that key: its page's only one."""
    return {f"{key.partition('_')[0]}_predict": "true"}


def commit(app, key, choice):
    """Choose an answer to a question and ask for the right one."""
    app.radio(key=key).set_value(choice).run()
    return app.button(key=f"{key}_reveal").click().run()


def parameters(app):
    """Return every setting of the page, as the address writes it."""
    return {each.name: each.value for each in app.session_state["frame_book"].parameters.values()}


def tabs_of(app, options):
    """Return the setting of the tabs and their words; of a page without tabs none."""
    for each in app.session_state["frame_book"].parameters.values():
        if each.name.endswith("_tab"):
            return each.name, next(words for words, default in options if default == each.default)
    return "", [""]
