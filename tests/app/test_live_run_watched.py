"""A run of the reader's own loop on the live page: what it has is shown, what it lacks is said."""

import json

import pytest
import torch
from torch import nn

from core.train.control.commands import send
from core.train.run.directory import runs_directory
from core.train.run.evaluations import are_comparable, differing_settings, validation_curve
from core.train.run.shelf import summarize
from core.train.watch import Watch
from pages.components.live_chart.feed import Feed
from pages.components.run_player.run_player import player_html
from tests.app.shown import browser_part, captions, headline

PAGE = "train/live_run"


@pytest.fixture
def watched():
    """Return watched(name, **more): the directory of a run of three steps that was stopped."""

    def make(name="Mine", **more):
        model = nn.Linear(4, 1)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        with Watch(model, optimizer, runs=runs_directory(), name=name, **more) as watch:
            for _step in range(3):
                model(torch.ones(2, 4)).square().mean().backward()
                optimizer.step()
                watch.step(0.5)
            watch.validation(0.4)
            watch.sample("what it writes")
            send(watch.directory, "stop")
            watch._look_at = 0.0
            watch.step(0.5)
        return watch.directory

    return make


def test_the_page_shows_what_a_loop_told_and_claims_no_more(open_page, watched):
    directory = watched(tokens_per_step=8, num_steps=10)
    for language in ("en", "zh"):
        app = open_page(PAGE, run=directory.name, lang=language)
        assert not app.exception
        assert "adamw" in headline(app)
        assert "8" in headline(app)
        told = browser_part(app, "live_chart")["told"]
        assert (told["title"], told["parameters"]) == ("Mine", "5")
        assert told["mark"].endswith("ended")


def test_beside_another_run_only_known_settings_are_compared(open_page, watched):
    first, second = watched(), watched("Yours", tokens_per_step=16)
    app = open_page(PAGE, run=first.name, lr_beside=second.name)
    assert not app.exception
    curves = [validation_curve(each) for each in (first, second)]
    assert differing_settings(curves) == {}
    assert not are_comparable(curves)
    assert any("does not tell which text" in caption for caption in captions(app))


def test_the_window_of_the_runs_offers_no_fork_and_no_script(open_page, watched):
    directory = watched()
    app = open_page(PAGE, run=directory.name)
    app.button(key="lr_manage").click().run()
    assert not app.exception
    keys = {each.key for each in app.button}
    assert f"lr_open_{directory.name}" in keys
    assert not [key for key in keys if key and key.startswith("lr_fork")]


def test_the_stream_and_the_file_to_take_away_hold_it(watched):
    directory = watched()
    feed = Feed(directory)
    feed.take(feed.look())
    message = json.loads(feed.message(None).split(b"data: ")[1])
    assert message["columns"]["step"] == [1, 2, 3, 4]
    assert message["state"]["can_resume"] is False
    assert "what it writes" in player_html(directory)
    assert summarize(directory).num_steps == 0
