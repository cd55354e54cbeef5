"""What a reader sees of a page before he scrolls: where its picture is, how large its answer.

`narrow_look` says of a whole page on a phone or a tablet what is cut, covered or beside another.
"""

from dataclasses import dataclass
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

WIDGETS = ", ".join(
    f"[data-testid={name}]"
    for name in (
        *("stSlider", "stSelectbox", "stMultiSelect", "stTextInput", "stTextArea", "stNumberInput"),
        *("stCheckbox", "stButtonGroup", "stRadio", "stPopover", "stFileUploader"),
    )
)
TENSOR_MAPS = (".st-key-strides_map", "[class*=st-key-index_][class*=_map]", ".st-key-broad_map")
GRAPHS = (".st-key-graph_picture", ".st-key-inside_picture")
CARDS = (".st-key-bug_sheet",)
PICTURE = ", ".join(
    (
        *("[data-testid=stPlotlyChart]", ".st-key-bits_grid", ".st-key-bits_map"),
        *("[data-chart=loss]", *TENSOR_MAPS, *GRAPHS, *CARDS),
    )
)
WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}}
MEASURE = """([widgets, picture, drawn]) => {
  const main = document.querySelector("[data-testid=stMain]");
  const seen = (each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && each.getBoundingClientRect().width > 1 && each.getBoundingClientRect().height > 1;
  // As the eye gets it: what is drawn may be scaled by the picture around it.
  const larger = ({ a, b }) => Math.round(Math.hypot(a, b) * 1000) / 1000;
  const size = (each) => parseFloat(getComputedStyle(each).fontSize)
    * (each.ownerSVGElement ? larger(each.getScreenCTM()) : 1);
  const headline = main.querySelector(".st-key-headline p");
  const pictures = [...main.querySelectorAll(picture)].filter(seen);
  const box = pictures[0]?.getBoundingClientRect();
  const words = [...main.querySelectorAll("input:not([type=range]), textarea")]
    .filter((each) => seen(each) && each.value).map((each) => [size(each), each.value]);
  const inPictures = []; // what is written inside a picture may be large
  const parts = [...main.querySelectorAll(drawn)].flatMap((each) => [...each.querySelectorAll("*")])
    .map((each) => each.shadowRoot).filter(Boolean);
  for (const part of [main, ...parts]) {
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      const text = walker.currentNode.textContent.trim();
      const isNone = ".st-key-headline, style, script, [data-testid=stIconMaterial]";
      if (!text || parent.closest(isNone)) continue;
      if (seen(parent)) (part === main ? words : inPictures).push([size(parent), text]);
    }
  }
  words.sort((one, other) => other[0] - one[0]);
  const frame = [".st-key-frame_switches", ".st-key-page_header", ".st-key-page_tabs",
    "[data-testid=stExpander]"].join();
  const controls = [...main.querySelectorAll(widgets)].filter((each) => seen(each)
    && !each.closest(frame)
    && !each.parentElement.closest(widgets) && each.getBoundingClientRect().top < innerHeight);
  const cut = [...main.querySelectorAll("*")].filter((each) => {
    const style = getComputedStyle(each);
    return style.textOverflow === "ellipsis" && style.overflowX !== "visible"
      && each.clientWidth > 0 && each.scrollWidth > each.clientWidth;
  }).map((each) => each.value || each.textContent);
  const height = (each) => each.getBoundingClientRect().height;
  const labels = [...main.querySelectorAll("[data-testid=stWidgetLabel] p")]
    .filter((each) => seen(each) && height(each) > 1.9 * size(each))
    .map((each) => each.textContent);
  const tabs = [...main.querySelectorAll(".st-key-page_tabs [role=radio]")];
  // How many letters and digits stand in the last line of a text.
  const lastLine = (text) => {
    const bottoms = [], range = document.createRange();
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (let at = 0; at < node.length; at += 1) {
        if (!/[\\p{L}\\p{N}]/u.test(node.data[at])) continue;
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        bottoms.push(range.getBoundingClientRect().bottom);
      }
    }
    return bottoms.filter((each) => each > Math.max(...bottoms) - 8).length;
  };
  const line = headline ? parseFloat(getComputedStyle(headline).lineHeight) : 1;
  return {
    picture_top: box ? Math.round(box.top) : null,
    picture_seen: box ? Math.max(0, Math.min(1, (innerHeight - box.top) / box.height)) : 0,
    headline_px: headline ? size(headline) : 0,
    headline_lines: headline ? Math.round(height(headline) / line) : 0,
    last_line: headline ? lastLine(headline) : 0,
    largest_other: words[0] ?? [0, ""],
    smallest: [...words, ...inPictures].sort((one, other) => one[0] - other[0])[0] ?? [0, ""],
    num_tabs: tabs.length,
    num_controls: controls.length,
    cut, two_lines: labels,
    width: document.documentElement.scrollWidth,
    height: main.scrollHeight,
  };
}"""


@dataclass(frozen=True, kw_only=True)
class FirstLook:
    """The first screen of a page, in pixels.

    Attributes:
        picture_top: Where the picture begins; None without one.
        picture_seen: The share of its height that the screen shows.
        headline_px: Size of the text of the headline.
        headline_lines: Of how many lines it is.
        last_line: How many letters and digits the last of them has.
        largest_other: Size and words of the largest text beside it.
        smallest: Size and words of the smallest text.
        num_tabs: How many tabs stand in the row.
        num_controls: How many inputs stand in sight; one that opens counts as one.
        cut: Labels, numbers and words in fields that end in "...".
        two_lines: Labels of inputs that take more than a line.
        width: Of the page.
        height: Of the page with all that is below the screen.
    """

    picture_top: int | None
    picture_seen: float
    headline_px: float
    headline_lines: int
    last_line: int
    largest_other: list
    smallest: list
    num_tabs: int
    num_controls: int
    cut: list
    two_lines: list
    width: int
    height: int


def first_look(page):
    """Return what the first screen of a drawn page shows."""
    return FirstLook(
        **page.evaluate(MEASURE, [WIDGETS, PICTURE, ", ".join((*TENSOR_MAPS, *GRAPHS))])
    )


NARROW = Path(__file__).with_name("narrow_look.js").read_text(encoding="utf-8")
LEAST_COLUMN = 280  # pixels of a column that stands beside another
LEAST_SHARE = 0.85  # of the screen's width for the picture


@dataclass(frozen=True, kw_only=True)
class NarrowLook:
    """A whole page on a narrow screen.

    Attributes:
        cut: Texts that end before their last letter, and not in a frame that scrolls.
        overlaps: Pairs of texts of which one lies on the other.
        narrow: Columns that stand beside another and are too narrow to read.
        share: Of the screen's width that the first picture and those beside it take.
        top: Where it begins; None without one.
        controls_first: Whether the inputs stand above the picture or beside it.
        too_wide: Pixels by which the page scrolls to the side.
    """

    cut: list
    overlaps: list
    narrow: list
    share: float
    top: int | None
    controls_first: bool
    too_wide: int

    def faults(self):
        """Return everything that a reader with a phone would stumble over."""
        return [
            *(f"cut: {each}" for each in self.cut),
            *(f"covered: {each}" for each in self.overlaps),
            *(f"narrow column: {each}" for each in self.narrow),
            *([f"picture: {self.share:.0%}"] if self.share < LEAST_SHARE else []),
            *(["controls before the picture"] if self.controls_first else []),
            *([f"{self.too_wide} px too wide"] if self.too_wide > 0 else []),
        ]


def narrow_look(page):
    """Return what a page, drawn, is like on the narrow screen that it is on."""
    return NarrowLook(**page.evaluate(NARROW, [PICTURE, LEAST_COLUMN]))


def barriers(page):
    """Return what axe finds against WCAG 2.2, levels A and AA."""
    found = Axe().run(page, options=WCAG).response["violations"]
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]
