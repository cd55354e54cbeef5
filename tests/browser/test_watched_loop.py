"""A loop of the reader's own on the live page: it is drawn, told what to do, and does it."""

import threading

import pytest
import torch
from torch import nn

from core.train.watch import Watch


@pytest.fixture
def looping(server):
    """A loop that trains until the page stops it."""
    model = nn.Linear(4, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    watch = Watch(model, optimizer, runs=server.runs, name="My line")

    def train():
        going = True
        while going:
            loss = (model(torch.ones(2, 4)) - 3).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            going = watch.step(loss)
            threading.Event().wait(0.02)

    thread = threading.Thread(target=train)
    thread.start()
    yield watch
    watch.should_stop = True
    thread.join(30)
    watch.close()


def test_the_page_draws_pauses_and_stops_it(new_page, visit, looping, screenshot):
    page = visit(new_page(), "/live-run", run=looping.directory.name)
    loss = "document.querySelector('[data-chart=loss] .live-plot')"
    page.until(f"{loss}?.data?.find(t => t.meta.role === 'training')?.x.length > 10")
    assert page.evaluate(f"{loss}.layout.yaxis.title.text") == "loss, as the loop tells it"
    page.until("document.querySelector('[data-chart=memory] .live-plot')?.data?.length > 0")
    bar = page.locator(".live-controls")
    assert bar.get_by_role("button", name="Stop", exact=True).is_visible()
    bar.get_by_role("button", name="Pause").click()
    page.until("document.querySelector('.live-ack').textContent.includes('took effect')")
    page.until("document.querySelector('[data-state]').dataset.state === 'paused'")
    screenshot(page, "watched-loop")
    assert "NaN" not in page.locator("body").inner_text()
    page.get_by_text("The numbers as a table").click()
    table = page.locator(".live-tables").inner_text()
    assert "nats" not in table
    assert "NaN" not in table
    bar.get_by_role("button", name="Resume").click()
    bar.get_by_role("button", name="Stop", exact=True).click()
    page.until("document.querySelector('[data-state]').dataset.state === 'stopping'")
    looping.close()
    page.until("document.querySelector('.live-message').textContent.startsWith('Stopped at step')")
    assert bar.is_hidden()
