"""A memory snapshot goes from the browser to the server, past the bounds of Streamlit's uploads."""

import pickle

from core.units import format_bytes
from tests.browser.seen import until_headline
from tests.core.budget.diagnosis.made_snapshot import two_steps

OVERSIZED = """(input) => {
  const file = { size: 2 ** 28 + 1, name: "large.pickle" };
  Object.defineProperty(input, "files", { value: [file], configurable: true });
  input.dispatchEvent(new Event("change"));
}"""


def test_a_chosen_file_of_more_than_five_megabytes_is_read_and_an_oversized_one_is_not_sent(
    new_page, visit, tmp_path
):
    made = two_steps()
    dump = made.dump() | {"padding": b"x" * 6_000_000}
    path = tmp_path / "mine.pickle"
    path.write_bytes(pickle.dumps(dump))
    page = visit(new_page(), "/diagnose", diagnose_tab="snapshot")
    chooser = page.locator("input[type=file][hidden]")
    chooser.wait_for(state="attached")
    chooser.evaluate(OVERSIZED)
    assert "256" in page.locator("span[role=status]", has_text="256").inner_text()
    chooser.evaluate("(input) => delete input.files")
    chooser.set_input_files(path)
    peak = max(active for active, _reserved, _parts in made.told)
    until_headline(page, format_bytes(peak))
    assert page.get_by_text("mine.pickle").is_visible()
    path.write_bytes(pickle.dumps(two_steps(num_layers=20).dump()))
    page.get_by_role("button", name="Compare with another").wait_for()
    chooser.nth(1).set_input_files(path)
    until_headline(page, "below A's")
    page.get_by_role("button", name="End the comparison").click()
    until_headline(page, "reserved then")
