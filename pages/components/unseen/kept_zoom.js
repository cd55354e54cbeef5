// Streamlit draws a new chart whenever a figure's numbers change. What the reader did to the old one
// (zoom, tool, lines hidden by the legend) is done again to the new one, if its axes mean the same.
const CHARTS = '[data-testid="stPlotlyChart"] .js-plotly-plot';
const AXIS = /^([xy]axis\d*)\.(range|autorange)/;
const TRIES = 20;
const kept = new Map(); // key of the chart -> { meaning, axes, tool, shown }
const starts = new WeakMap(); // chart -> { on, axes }: its listeners' home and its full ranges

const keyOf = (chart) =>
  [...(chart.closest('[class*="st-key-"]')?.classList ?? [])].find((name) => name.startsWith("st-key-"));

const same = (one, other) => one[0] === other[0] && one[1] === other[1];

// Another number may have moved everything away from where the reader looked.
export function overlaps([a, b], [c, d]) {
  return Math.max(a, b) > Math.min(c, d) && Math.max(c, d) > Math.min(a, b);
}

// A line is known by its words, and by its place among lines of the same words.
export function names(data) {
  const seen = new Map();
  return data.map(({ name = "", legendgroup = "" }) => {
    const words = `${legendgroup}\n${name}`;
    seen.set(words, (seen.get(words) ?? 0) + 1);
    return `${words}\n${seen.get(words)}`;
  });
}

function fullRanges({ _fullLayout: layout }) {
  const axes = Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name));
  return Object.fromEntries(
    axes.map((name) => [name, { type: layout[name].type, range: [...layout[name].range] }]),
  );
}

// Where an axis means something else or shows another part of the world, an old zoom says nothing.
function memoryOf(chart) {
  const [key, full] = [keyOf(chart), starts.get(chart).axes];
  const memory = kept.get(key) ?? { axes: {}, shown: {} };
  kept.set(key, memory);
  const fits = ([name, { type, range }]) => full[name]?.type === type && overlaps(range, full[name].range);
  const meaning = chart.layout.uirevision;
  if (memory.meaning !== meaning || !Object.entries(memory.axes).every(fits)) memory.axes = {};
  memory.meaning = meaning;
  return memory;
}

function noteLayout(chart, changes = {}) {
  const memory = memoryOf(chart);
  if (changes.dragmode) memory.tool = changes.dragmode;
  for (const name of new Set(Object.keys(changes).map((path) => path.match(AXIS)?.[1]))) {
    const now = name && chart._fullLayout[name];
    if (!now) continue;
    const full = starts.get(chart).axes[name];
    if (now.autorange || same(now.range, full.range)) delete memory.axes[name];
    else memory.axes[name] = { type: now.type, range: [...now.range] };
  }
}

function noteLines(chart, [changes, places] = [{}, []]) {
  if (!("visible" in changes)) return;
  const all = names(chart.data);
  for (const place of places) memoryOf(chart).shown[all[place]] = chart.data[place].visible ?? true;
}

// Returns whether something had to change. Streamlit's own wrapper takes over `layout` and `data`
// of a chart that reports a new layout, and has Plotly draw them.
function apply(chart, { axes, tool, shown }) {
  const layout = { ...chart.layout };
  for (const [name, { range }] of Object.entries(axes)) {
    if (same(chart._fullLayout[name].range, range)) continue;
    layout[name] = { ...layout[name], range: [...range], autorange: false };
  }
  if (tool && tool !== chart._fullLayout.dragmode) layout.dragmode = tool;
  const all = names(chart.data);
  const isAs = (place) => !(all[place] in shown) || shown[all[place]] === chart._fullData[place].visible;
  const data = chart.data.map((trace, place) =>
    isAs(place) ? trace : { ...trace, visible: shown[all[place]] },
  );
  const changed = (old, now) => Object.keys(now).some((name) => old[name] !== now[name]);
  if (!changed(chart.layout, layout) && !changed(chart.data, data)) return false;
  [chart.layout, chart.data] = [layout, data];
  chart.emit("plotly_relayout", {});
  return true;
}

function restore(chart, tries = TRIES) {
  if (!kept.has(keyOf(chart)) || !tries || !chart.isConnected) return;
  // The wrapper may not listen yet: ask again until Plotly has drawn it.
  if (apply(chart, memoryOf(chart))) setTimeout(() => restore(chart, tries - 1), 50);
}

function adopt(chart) {
  const start = starts.get(chart);
  if (!chart._fullLayout || start?.on === chart.on) return;
  // A new drawing of the same element (full screen) has new listeners, but its zoom is its own.
  starts.set(chart, { on: chart.on, axes: start?.axes ?? fullRanges(chart) });
  chart.on("plotly_relayout", (changes) => noteLayout(chart, changes));
  chart.on("plotly_restyle", (changes) => noteLines(chart, changes));
  if (!start) restore(chart);
}

// A chart that a finished script has left out is over, and so is what was done to it.
function forget() {
  if (document.querySelector("[data-test-script-state]")?.dataset.testScriptState !== "notRunning") return;
  for (const key of kept.keys()) {
    if (!document.getElementsByClassName(key).length) kept.delete(key);
  }
}

export default function ({ parentElement }) {
  if (parentElement.watching) return undefined;
  let waiting = 0;
  const look = () => {
    waiting = 0;
    document.querySelectorAll(CHARTS).forEach(adopt);
    forget();
  };
  const watcher = new MutationObserver(() => (waiting ||= setTimeout(look)));
  watcher.observe(document.body, { childList: true, subtree: true });
  parentElement.watching = watcher;
  look();
  return () => {
    watcher.disconnect();
    clearTimeout(waiting);
    parentElement.watching = null;
  };
}
