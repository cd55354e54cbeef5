// A text in a model. What is pointed at moves here; every key of the text goes to Python, the newest
// first: while an answer is under way the next key waits, and those between are never sent.

const REST_MS = 60;
const MANY = 4;
const LEAST_PANEL = 240; // pixels; where two have no room they stand below each other
const GAP_OF_PANELS = 16;
const LATE_MS = 1500; // after that an answer is no longer waited for
const KINDS = ["svg", "png"];
const VIEWS = new WeakMap();

const isHalf = (each) => each.length === 1 && each >= "\ud800" && each <= "\udfff"; // of an emoji
const endOf = (text, most) => [...text.slice(-2 * most)].map((each) => (isHalf(each) ? "\ufffd" : each)).slice(-most).join("");
const lastOf = (view) => view.data.panels[0]?.tokens.length - 1;
const rowsOf = (view) => view.data.panels[0].names.length;
const pointed = (view) => view.hover ?? { token: view.at, row: view.row };

function tell(view, wait) {
  clearTimeout(view.telling);
  view.telling = setTimeout(() => {
    const isWaiting = view.told && view.told.text !== view.data.text && performance.now() - view.since < LATE_MS;
    if (isWaiting) return; // the answer calls again
    const text = endOf(view.field.value, view.data.most);
    const told = { text, at: view.isKept ? String(view.at) : "", layer: view.layer + 1 };
    if (JSON.stringify(told) === JSON.stringify(view.told ?? view.given)) return;
    Object.assign(view, { told, since: performance.now(), asked: [...view.asked, told] });
    view.report("told", told);
  }, wait);
}

function pointAt(view, token, row) {
  const layer = row > 0 ? row - 1 : view.layer;
  const isMoved = layer !== view.layer;
  const at = Math.max(0, Math.min(token, lastOf(view)));
  Object.assign(view, { at, row, layer, hover: null, isKept: at !== lastOf(view) });
  const isHidden = view.scenes.some(({ first, place }) => at < first || at >= first + place.num_shown);
  if (isMoved || isHidden) build(view);
  else show(view);
  tell(view, REST_MS);
}

function onKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { token, row } = pointed(view);
  const move = {
    ArrowLeft: [token - 1, row],
    ArrowRight: [token + 1, row],
    ArrowUp: [token, Math.max(row - 1, 0)],
    ArrowDown: [token, Math.min(row + 1, rowsOf(view) - 1)],
    Home: [0, row],
    End: [lastOf(view), row],
  }[event.key];
  if (!move) return;
  event.preventDefault(); // the page has keys of its own
  event.stopPropagation();
  pointAt(view, ...move);
}

// Which cell lies below the pointer; a token's own cell points at the output.
function cellAt(view, scene, event) {
  const { left, top, width } = scene.svg.getBoundingClientRect();
  const scale = scene.place.width / width;
  const [x, y] = [(event.clientX - left) * scale, (event.clientY - top) * scale];
  const token = scene.first + Math.floor((x - scene.place.gutter) / scene.place.cell);
  if (x < scene.place.gutter || token >= scene.first + scene.place.num_shown) return null;
  const rows = scene.panel.names.map((_, row) => topOf(scene.place, row, view.layer));
  const row = rows.findLastIndex((from) => y >= from && y <= from + scene.place.high);
  return { token, row: row < 0 ? rowsOf(view) - 1 : row };
}

function listen(view, scene) {
  scene.svg.addEventListener("keydown", (event) => onKey(view, event));
  scene.svg.addEventListener("pointermove", (event) => {
    const hover = cellAt(view, scene, event);
    if (hover?.token === view.hover?.token && hover?.row === view.hover?.row) return;
    view.hover = hover;
    show(view);
  });
  scene.svg.addEventListener("pointerleave", () => {
    view.hover = null;
    show(view);
  });
  scene.svg.addEventListener("click", (event) => {
    const cell = cellAt(view, scene, event);
    if (cell) pointAt(view, cell.token, cell.row);
  });
}

function build(view) {
  const { panels } = view.data;
  const host = view.root.querySelector(".panels");
  const focused = view.scenes.findIndex(({ svg }) => svg.getRootNode().activeElement === svg);
  const room = view.root.clientWidth + GAP_OF_PANELS;
  const inRow = Math.min(Math.max(panels.length, 1), Math.max(Math.floor(room / (LEAST_PANEL + GAP_OF_PANELS)), 1));
  const width = Math.max(LEAST_PANEL, Math.floor(room / inRow - GAP_OF_PANELS));
  view.width = view.root.clientWidth;
  view.scenes = panels.map((panel) => buildPanel(panel, view, width));
  const made = view.scenes.map((scene) => {
    const place = document.createElement("div");
    place.className = "panel";
    if (panels.length > 1) {
      const title = document.createElement("h4");
      title.textContent = scene.panel.title;
      place.append(title);
    }
    place.append(scene.svg);
    listen(view, scene);
    return place;
  });
  host.replaceChildren(...made);
  if (focused >= 0) view.scenes[focused]?.svg.focus();
  show(view);
}

function show(view) {
  const { token, row } = pointed(view);
  for (const scene of view.scenes) showPoint(scene, view, token, row);
  view.root.querySelector(".sentence").textContent = view.scenes.length ? sentence(view, token, row) : view.data.words.empty;
}

// Whom the token looks at most, and what would come next.
function sentence(view, token, row) {
  const { words, signs, panels } = view.data;
  const [panel] = panels;
  const weights = panel.attention[view.layer][token];
  const looks = [...weights.keys()]
    .sort((one, other) => weights[other] - weights[one])
    .slice(0, 3)
    .map((seen) => fill(words.share, { token: signs[panel.tokens[seen]], share: view.percent(weights[seen] / 1000) }));
  return fill(words.sentence, {
    token: signs[panel.tokens[token]],
    attention: panel.attention_names[view.layer],
    looks: looks.join(words.comma),
    row: panel.names[row],
    said: signs[panel.says[row][token][0]],
    share: view.percent(panel.chances[row][token][0] / 10000),
  });
}

// A file for each model.
async function savePictures(view, kind) {
  const many = view.scenes.length > 1;
  for (const [number, { svg }] of view.scenes.entries()) {
    await save(svg, kind, many ? `inside-gpt-${number + 1}` : "inside-gpt");
  }
}

// Three significant digits, as Python writes them.
const percent = (template) => (share) => template.replace("{number}", String(Number((share * 100).toPrecision(3))));

function newView(root) {
  const field = root.querySelector(".text");
  const view = { root, field, at: 0, row: 0, layer: 0, scenes: [], hover: null, isKept: false, told: null, asked: [], given: null };
  field.addEventListener("input", (event) => {
    view.isKept = false;
    // A pasted book would take the browser seconds at every key: its end is kept, as it is sent.
    if (field.value.length > MANY * view.data.most) field.value = endOf(field.value, view.data.most);
    if (!event.isComposing) tell(view, 0);
  });
  for (const kind of KINDS) root.querySelector(`[data-act=${kind}]`).onclick = () => savePictures(view, kind);
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text");
    if (text.length <= MANY * view.data.most) return;
    event.preventDefault();
    field.setRangeText(endOf(text, view.data.most), field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input"));
  });
  field.addEventListener("compositionend", () => tell(view, 0));
  field.addEventListener("keydown", (event) => event.stopPropagation()); // the page's keys are letters here
  new ResizeObserver(() => {
    if (root.getRootNode().activeElement !== field) field.scrollTop = field.scrollHeight; // the letters may have grown
    if (view.data && Math.abs(root.clientWidth - view.width) > 2) build(view);
  }).observe(root);
  return view;
}

// What Python says is followed if it is news: not what was told here, which a key may have overtaken
// since, nor what it said before.
function follow(view, data) {
  const given = { text: data.text, at: data.at, layer: data.layer + 1 };
  const known = [view.given, ...view.asked].filter(Boolean);
  const answered = view.asked.findLastIndex((each) => JSON.stringify(each) === JSON.stringify(given));
  view.asked = view.asked.slice(answered); // of what was not asked here, nothing but the last
  const isNews = (name) => !known.some((each) => each[name] === given[name]);
  if (isNews("text")) {
    view.field.value = data.text;
    requestAnimationFrame(() => (view.field.scrollTop = view.field.scrollHeight));
  }
  if (!view.given || isNews("layer") || view.told?.layer !== view.layer + 1) view.layer = data.layer;
  if (isNews("at")) view.isKept = data.at !== "";
  const last = (data.panels[0]?.tokens.length ?? 1) - 1;
  if (!view.isKept) view.at = last;
  else if (isNews("at")) view.at = Number(data.at);
  view.at = Math.max(0, Math.min(view.at, last));
  const num_rows = data.panels[0]?.names.length ?? 1;
  if (!view.given || view.row >= num_rows) view.row = num_rows - 1;
  view.layer = Math.min(view.layer, Math.max(num_rows - 2, 0));
  view.given = given;
}

export default function ({ data: [data], parentElement, setStateValue }) {
  const root = parentElement.querySelector(".depth");
  if (!VIEWS.has(root)) VIEWS.set(root, newView(root));
  const view = VIEWS.get(root);
  const look = JSON.stringify(data);
  view.report = (name, value) => setStateValue(name, value);
  if (look === view.look) return;
  follow(view, data);
  Object.assign(view, { data, look, percent: percent(data.words.percent) });
  root.hidden = false;
  root.classList.toggle("present", data.present);
  view.field.hidden = data.hidden;
  const legend = view.root.querySelector(".legend");
  legend.textContent = data.words.legend;
  legend.hidden = data.present || !data.panels.length; // a projector has no room for it
  view.field.disabled = data.locked;
  view.field.setAttribute("aria-label", data.words.text);
  view.field.placeholder = data.words.empty;
  for (const kind of KINDS) {
    const button = view.root.querySelector(`[data-act=${kind}]`);
    button.textContent = data.words[kind];
    button.title = data.words[`${kind}_label`];
    button.setAttribute("aria-label", data.words[`${kind}_label`]);
    button.hidden = !data.panels.length;
  }
  build(view);
  tell(view, 0); // what was typed meanwhile
}
