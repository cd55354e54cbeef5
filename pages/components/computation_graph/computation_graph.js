// A captured graph. Time, zoom and the chosen box move here; Python hears of a choice at once and of
// a step a moment later, and knows every word and number that is shown.

const TELL_MS = 250;
const VIEWS = new WeakMap();

function choose(view, id) {
  if (id === view.selected) return;
  view.selected = id;
  view.sent.push(id);
  showStep(view);
  showTools(view);
  keepInSight(view, id);
  const picture = view.root.querySelector(".picture");
  picture.setAttribute("aria-activedescendant", `box-${id}`);
  view.report("selected", id);
}

const isAtEnd = (view) => view.step >= view.data.events.length - 1;

function tellStep(view) {
  clearTimeout(view.telling);
  view.telling = setTimeout(() => {
    view.told.step = isAtEnd(view) ? null : view.step;
    view.report("step", isAtEnd(view) ? "" : String(view.step));
  }, TELL_MS);
}

const chosenRow = (view) => view.data.boxes.find((row) => row.id === view.selected);

function openChosen(view) {
  const row = chosenRow(view);
  if (!row?.opens) return;
  view.isNext = (each) => each.inside === row.opens;
  view.ask("expanded", row.opens);
}

function closeChosen(view) {
  const row = chosenRow(view);
  if (!row?.inside) return;
  view.isNext = (each) => each.opens === row.inside;
  view.ask("closed", row.inside);
}

// After a module was opened its first box is chosen, and after it was closed the module.
function chooseNext(view) {
  const next = view.isNext && view.data.boxes.find(view.isNext);
  view.isNext = null;
  if (next) choose(view, next.id);
}

function showTools(view) {
  const row = chosenRow(view);
  view.root.querySelector("[data-act=open]").hidden = !row?.opens;
  view.root.querySelector("[data-act=close]").hidden = !row?.inside;
}

// Left to what a box was computed from, right to what was computed from it, up and down to whatever
// stands nearest there.
function neighbour(view, key) {
  const row = chosenRow(view);
  if (!row) return view.data.boxes.at(-1)?.id;
  const { links, boxes } = view.data;
  if (key === "ArrowLeft") return links.find((link) => link.source === row.id)?.target;
  if (key === "ArrowRight") return links.find((link) => link.target === row.id)?.source;
  const way = key === "ArrowDown" ? 1 : -1;
  const middle = ([x, y, width, height]) => [x + width / 2, y + height / 2];
  const [x, y] = middle(row.place);
  const far = (each) => {
    const [left, top] = middle(each.place);
    return (top - y) * way > 1 ? Math.hypot((left - x) * 3, top - y) : Infinity;
  };
  const nearest = boxes.reduce((best, each) => (far(each) < far(best) ? each : best), row);
  return nearest.id;
}

// The next box behind the chosen one of which any member has these letters in its name or type.
function find(view, typed) {
  const wanted = typed.trim().toLowerCase();
  const { boxes } = view.data;
  const from = boxes.findIndex((row) => row.id === view.selected) + 1;
  const inTurn = [...boxes.slice(from), ...boxes.slice(0, from)];
  const found = wanted && inTurn.find((row) => row.names.includes(wanted));
  if (found) choose(view, found.id);
  return Boolean(found) || !wanted;
}

function listenToSearch(view, field) {
  field.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the page has keys of its own
    if (event.key === "Enter") field.setAttribute("aria-invalid", String(!find(view, field.value)));
  });
  field.addEventListener("input", () => field.removeAttribute("aria-invalid"));
}

function onKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    Enter: () => openChosen(view),
    Backspace: () => closeChosen(view),
    " ": () => play(view),
    "]": () => goTo(view, view.step + 1),
    "[": () => goTo(view, view.step - 1),
    Home: () => goTo(view, -1),
    End: () => goTo(view, view.data.events.length - 1),
    "+": () => zoom(view, 1.25),
    "-": () => zoom(view, 0.8),
    0: () => fit(view),
  }[event.key];
  const isArrow = event.key.startsWith("Arrow");
  if (!act && !isArrow) return;
  event.preventDefault(); // the page has keys of its own
  event.stopPropagation();
  if (act) return act();
  const id = neighbour(view, event.key);
  if (id) choose(view, id);
}

// The whole graph, whatever part of it is seen and however large.
function saveWhole(view, kind) {
  return save(view.root.querySelector(".picture"), kind, view.data.file_name, wholeOf(view), view.camera.scale);
}

const ACTS = {
  back: (view) => goTo(view, view.step - 1),
  play,
  next: (view) => goTo(view, view.step + 1),
  speed: changeSpeed,
  out: (view) => zoom(view, 0.8),
  in: (view) => zoom(view, 1.25),
  fit: (view) => fit(view),
  open: openChosen,
  close: closeChosen,
  svg: (view) => saveWhole(view, "svg"),
  png: (view) => saveWhole(view, "png"),
};

function newView(root) {
  const view = { root, step: -1, selected: "", speed: 1, playing: null, sent: [], told: {}, given: {}, texts: 0 };
  const picture = root.querySelector(".picture");
  picture.addEventListener("keydown", (event) => onKey(view, event));
  listenToPointer(view, picture);
  listenToMap(view, root.querySelector(".map"));
  const time = root.querySelector(".time");
  time.addEventListener("input", () => goTo(view, Number(time.value)));
  root.querySelector(".curve").addEventListener("click", (event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    goTo(view, Math.floor(((event.clientX - left) / width) * view.data.events.length));
  });
  for (const [name, act] of Object.entries(ACTS)) root.querySelector(`[data-act=${name}]`).onclick = () => act(view);
  listenToSearch(view, root.querySelector(".find"));
  new ResizeObserver(() => {
    if (view.camera && Math.abs(root.clientWidth - view.width) > 2) measure(view);
  }).observe(root);
  return view;
}

function measure(view) {
  view.width = Math.max(Math.floor(view.root.clientWidth) - 2, 280);
  view.height = view.data.room;
  const picture = view.root.querySelector(".picture");
  picture.setAttribute("width", view.width);
  picture.setAttribute("height", view.height);
  if (view.camera && !view.camera.isFitted) return place(view);
  // On a projector no letter is smaller than those that the graph was laid out with.
  if (view.data.present) fit(view, 1, 1);
  else fit(view, READABLE, LEGIBLE);
}

// A projector's picture is all graph: the tools stand in the row of the slider, the curve upon it.
function arrange({ root, data: { present } }) {
  const part = (name) => root.querySelector(name);
  part(present ? ".transport" : ".stage").append(part(".tools"));
  part(present ? ".line" : ".memory").prepend(part(".curve"));
  part(present ? ".below" : ".memory").append(part(".bytes"));
}

function applyLook(view) {
  const { words, present, heated, heats } = view.data;
  for (const name of Object.keys(ACTS)) {
    const button = view.root.querySelector(`[data-act=${name}]`);
    button.textContent = name === "play" && view.playing ? words.pause : fill(words[name], view);
    button.setAttribute("aria-label", words[`${name}_label`]);
    button.title = words[`${name}_label`];
  }
  view.root.querySelector(".picture").setAttribute("aria-label", words.picture);
  const field = view.root.querySelector(".find");
  Object.assign(field, { placeholder: words.find, title: words.find_label });
  field.setAttribute("aria-label", words.find_label);
  view.root.classList.toggle("present", present);
  view.root.classList.toggle("heated", heated);
  const legend = view.root.querySelector(".legend");
  legend.hidden = !heated || !heats.length;
  legend.textContent = fill(words.legend, { low: heats[0], high: heats[1] });
}

// Python answers each choice with the one that it got, and may leave some out: only a choice that was
// never sent is news.
function followChoice(view, id) {
  const answered = view.sent.indexOf(id);
  if (answered < 0 && id !== view.given.selected) {
    view.selected = id;
    view.sent = [];
  }
  view.sent = view.sent.slice(answered + 1);
}

// A step of Python's is followed if it is news: not what it was, nor what was told here. Returns
// whether it is.
function follow(view, data) {
  const { given, told } = view;
  const last = data.events.length - 1;
  const isNews = data.step !== given.step && data.step !== told.step;
  if (isNews) view.step = data.step ?? last;
  followChoice(view, data.selected);
  view.given = { step: data.step, selected: data.selected };
  const wasAtEnd = view.step === (view.last ?? last);
  view.step = wasAtEnd && data.step === null ? last : Math.min(view.step, last);
  view.last = last;
  return isNews;
}

export default function ({ data: [data], parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".graph");
  if (!VIEWS.has(root)) VIEWS.set(root, newView(root));
  const view = VIEWS.get(root);
  const isNew = data.shape !== view.data?.shape || data.present !== view.data.present;
  const look = JSON.stringify({ ...data, step: null, selected: "" });
  const isChanged = look !== view.look;
  const before = `${view.step} ${view.selected}`;
  const isSent = follow(view, data) && data.step !== null;
  Object.assign(view, { data, look });
  view.report = (name, value) => setStateValue(name, value);
  view.ask = (name, value) => setTriggerValue(name, value);
  root.hidden = false;
  if (isNew) {
    view.camera = null;
    arrange(view);
    buildScene(view);
    buildMap(view);
  }
  if (isChanged) {
    view.texts += 1;
    applyLook(view);
    buildCurve(view);
    measure(view);
  }
  if (isNew) chooseNext(view);
  if (isNew || isChanged || before !== `${view.step} ${view.selected}`) showStep(view);
  if (isSent) keepStepInSight(view);
  showTools(view);
}
