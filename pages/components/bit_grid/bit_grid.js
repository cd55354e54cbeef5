// A number as bits to click. Every change is computed here and shown at once; Python hears of the
// code a moment later. Python's word is taken only where it says something new: a slow answer to an
// earlier click must not undo a later one.

const TELL_MS = 150; // a drag or a held key tells Python once
const VIEWS = new WeakMap();

const PRESETS = ["negate", "zero", "one", "max", "min_normal", "min_subnormal", "infinity", "nan"];

function show(view) {
  const facts = explain(view.data.format, view.code);
  showBits(view);
  showFormula(view, facts);
  showNeighbours(view, facts);
  showDetails(view, facts);
  showPresets(view);
  showMap(view);
  view.facts = facts;
}

function choose(view, code) {
  view.root.querySelector(".said").textContent = "";
  if (code === null || code === view.code) return;
  view.code = code;
  show(view);
  clearTimeout(view.telling);
  view.telling = setTimeout(() => tell(view), TELL_MS);
}

function tell(view) {
  const written = hexCode(view.data.format, view.code);
  view.sent.push(written);
  view.report(written);
}

// Python answers each report with the code that it got; only a code never sent is news.
function adopt(view, code) {
  if (code === view.heard) return false;
  view.heard = code;
  const answered = view.sent.indexOf(code);
  view.sent = view.sent.slice(answered + 1);
  return answered < 0;
}

function flip(view, place) {
  choose(view, view.code ^ (1n << BigInt(place)));
}

function setBit(view, place, isOn) {
  const mask = 1n << BigInt(place);
  choose(view, isOn ? view.code | mask : view.code & ~mask);
}

const isOn = (view, place) => Boolean((view.code >> BigInt(place)) & 1n);

function focusBit(view, place, takeFocus = true) {
  const kept = Math.min(Math.max(place, 0), view.cells.length - 1);
  view.cells.forEach((cell, number) => (cell.tabIndex = number === kept ? 0 : -1));
  if (takeFocus) view.cells[kept].focus();
}

function onKey(view, event) {
  const place = Number(event.target.closest(".bit")?.dataset.place ?? NaN);
  if (Number.isNaN(place) || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    ArrowLeft: () => focusBit(view, place + 1),
    ArrowRight: () => focusBit(view, place - 1),
    Home: () => focusBit(view, view.cells.length - 1),
    End: () => focusBit(view, 0),
    ArrowUp: () => choose(view, view.facts.above),
    ArrowDown: () => choose(view, view.facts.below),
    " ": () => flip(view, place),
    Enter: () => flip(view, place),
    0: () => setBit(view, place, false),
    1: () => setBit(view, place, true),
  }[event.key];
  if (!act) return;
  event.preventDefault(); // the page has keys of its own
  act();
}

// The first bit under the pointer is flipped; a drag gives the next ones the same value.
function listenToPointer(view) {
  const row = view.root.querySelector(".bits");
  const bitAt = (event) => view.root.getRootNode().elementFromPoint(event.clientX, event.clientY)?.closest(".bit");
  let paint = null;
  row.addEventListener("pointerdown", (event) => {
    const cell = event.target.closest(".bit");
    if (!cell || event.button) return;
    const place = Number(cell.dataset.place);
    paint = !isOn(view, place);
    setBit(view, place, paint);
    focusBit(view, place, false);
  });
  row.addEventListener("pointermove", (event) => {
    if (paint === null || !event.buttons) return;
    const cell = bitAt(event);
    if (cell) setBit(view, Number(cell.dataset.place), paint);
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) row.addEventListener(name, () => (paint = null));
  // A click without a pointer comes from a screen reader.
  row.addEventListener("click", (event) => {
    const cell = event.target.closest(".bit");
    if (cell && event.detail === 0) flip(view, Number(cell.dataset.place));
  });
}

// A typed number is rounded once from the exact text; a typed code is taken as it is.
function onEntry(view) {
  const { format, words } = view.data;
  const { value: text } = view.root.querySelector("input");
  const number = readNumber(text);
  const code = readCode(format, text) ?? (number && encodeExact(format, number));
  choose(view, code);
  view.root.querySelector(".said").textContent = entrySentence(format, words, text.trim(), number, code);
}

function entrySentence(format, words, text, number, code) {
  if (code === null) {
    const last = hexCode(format, bits(format.bits));
    return fill(words.not_read, { text: text.slice(0, 40), last, format: format.name });
  }
  const stored = exactOf(format, code);
  const value = shortText(stored, format);
  if (!number || number.special || stored.special) return fill(words.is_now, { text, value });
  const error = distance(number, stored);
  if (!error.num) return fill(words.is_exact, { text, value });
  return fill(words.is_rounded, { text, value, error: exactDecimal(error, 4).text });
}

function applyWords(view) {
  const { words, size, present } = view.data;
  for (const node of view.root.querySelectorAll("[data-word]")) node.textContent = words[node.dataset.word];
  for (const name of PRESETS) view.root.querySelector(`[data-preset=${name}]`).textContent = words[`set_${name}`];
  view.root.querySelector("input").placeholder = words.example;
  view.root.inert = view.data.locked;
  view.root.dataset.size = size;
  view.root.classList.toggle("present", present);
}

function newView(root) {
  const view = { root, sent: [], choose: (code) => choose(view, code) };
  root.addEventListener("keydown", (event) => onKey(view, event));
  listenToPointer(view);
  for (const name of ["below", "above"]) {
    root.querySelector(`[data-step=${name}]`).onclick = () => choose(view, view.facts[name]);
  }
  root.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    onEntry(view);
  };
  return view;
}

export default function ({ data: [data], parentElement, setStateValue }) {
  const root = parentElement.querySelector(".grid");
  if (!VIEWS.has(root)) VIEWS.set(root, newView(root));
  const view = VIEWS.get(root);
  const look = JSON.stringify({ ...data, code: "" });
  const isNewLook = look !== view.look;
  const isNewCode = adopt(view, data.code) || JSON.stringify(data.format) !== JSON.stringify(view.data?.format);
  Object.assign(view, { data, look });
  view.report = (code) => setStateValue("code", code);
  if (isNewLook) {
    applyWords(view);
    buildBits(view);
    focusBit(view, data.format.bits - 1, false);
    buildMap(view);
  }
  if (isNewCode) {
    clearTimeout(view.telling);
    view.code = BigInt(data.code);
  }
  if (isNewLook || isNewCode) show(view);
  root.hidden = false;
}

// For tests: the functions that have an original in Python.
window[Symbol.for("bits-to-gpt.codec")] = { decode, encode, encodeExact, explain, exactDecimal, formulaText, hexFloat, readNumber, reduced, numFinite, magnitudeShare };
