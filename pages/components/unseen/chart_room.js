// Charts of a phone: full width where their words have room in it. Where they lie on each other or are
// cut, a chart grows until they do not, and its frame scrolls to the side, as a wide table does.
const CHARTS = '[data-testid="stPlotlyChart"] .js-plotly-plot';
const TABLES = '.stMarkdown table, :has(> [data-testid="stTableStyledTable"])';
const NARROW = matchMedia("(max-width: 800px)");
const GROWTH = 1.2;
const SETTLED = 200; // ms
const WIDEST = 1100; // pixels of a picture on a laptop: there every word has room
const rooms = new Map(); // key of the chart -> the width that it needed
const heard = new WeakMap(); // chart -> home of its listeners

const keyOf = (chart) =>
  [...(chart.closest('[class*="st-key-"]')?.classList ?? [])].find((name) => name.startsWith("st-key-"));

export function covers(one, other) {
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return wide > 2 && high > 0.3 * Math.min(one.height, other.height);
}

// Words in the order of their left ends: only those that begin before another ends can lie on it.
export function isCrowded(boxes, room) {
  const sorted = boxes.filter(({ width }) => width > 0).sort((one, other) => one.left - other.left);
  return sorted.some((one, at) => {
    if (one.left < room.left - 2 || one.right > room.right + 2) return true;
    for (let next = at + 1; next < sorted.length && sorted[next].left < one.right; next += 1) {
      if (covers(one, sorted[next])) return true;
    }
    return false;
  });
}

function give(chart, width) {
  const frame = chart.closest(".stElementContainer")?.firstElementChild;
  if (!frame) return;
  frame.dataset.room = width;
  frame.style.minWidth = `${width}px`;
  frame.parentElement.tabIndex = 0; // arrow keys move it to the side, too
}

// Crowded for a moment while Plotly lays it out anew, a chart needs no more room: it is looked at twice.
function look(chart, isSecond = false) {
  if (!NARROW.matches || !chart.isConnected || !chart._fullLayout) return;
  const words = [...chart.querySelectorAll(".main-svg text")].filter((each) => each.checkVisibility());
  const room = chart.getBoundingClientRect();
  const width = Math.ceil(room.width * GROWTH);
  if (width > WIDEST || !isCrowded(words.map((each) => each.getBoundingClientRect()), room)) return;
  if (!isSecond) return void setTimeout(() => look(chart, true), SETTLED);
  rooms.set(keyOf(chart), width);
  give(chart, width); // Plotly draws it anew, and it is looked at again
}

function adopt(chart) {
  if (!chart._fullLayout || heard.get(chart) === chart.on) return;
  heard.set(chart, chart.on);
  if (NARROW.matches && rooms.has(keyOf(chart))) give(chart, rooms.get(keyOf(chart)));
  chart.on("plotly_afterplot", () => setTimeout(() => look(chart)));
  look(chart);
}

export default function ({ parentElement }) {
  if (parentElement.watching) return undefined;
  let waiting = 0;
  const adoptAll = () => {
    waiting = 0;
    document.querySelectorAll(CHARTS).forEach(adopt);
    for (const frame of document.querySelectorAll(TABLES))
      if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
  };
  const watcher = new MutationObserver(() => (waiting ||= setTimeout(adoptAll)));
  watcher.observe(document.body, { childList: true, subtree: true });
  parentElement.watching = watcher;
  adoptAll();
  return () => {
    watcher.disconnect();
    clearTimeout(waiting);
    parentElement.watching = null;
  };
}
