// A tensor, its storage and the way between them. Steps, cells and the needle move here; Python
// hears of a choice a moment later, and knows every word and number that is shown.

const TELL_MS = 250;
const PLAY_MS = 700;
const MOVE_MS = 550;
const VIEWS = new WeakMap();

const fill = (template, values) => template.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function build(view, from = null) {
  const { root } = view;
  const picture = root.querySelector(".picture");
  view.width = Math.max(Math.floor(root.clientWidth), 280);
  view.room = view.data.room;
  const scene = sceneOf(view);
  const [grid, lanes] = [drawGrid(view, scene), scene.lanes.map((lane) => drawLane(view, scene, lane))];
  picture.setAttribute("viewBox", `0 0 ${view.width} ${scene.height}`);
  picture.setAttribute("width", view.width);
  picture.setAttribute("height", scene.height);
  picture.replaceChildren(drawAxes(view, scene), ...lanes, grid, node("g", { class: "way" }));
  view.scene = scene;
  if (from && !isCalm()) moveCells(view, from);
  point(view);
}

// A view lays the grid out anew: nothing moves, for nothing in the storage has moved. Only a copy's
// elements do, from the old storage into the new one, which was not there before.
function moveCells(view, old) {
  const { scene } = view;
  const wasThere = old.lanes.some(({ storage }) => storage.key === scene.tensor.storage);
  if (wasThere || old.addresses.length !== scene.addresses.length) return;
  const [from, to] = [laneOf(old), laneOf(scene)];
  const readers = readersOf(scene.addresses);
  view.root.querySelectorAll(".lane.own .byte").forEach((byte) => {
    const flat = readers.get(Number(byte.dataset.address))?.[0];
    if (flat === undefined) return;
    const before = stripPlace(old, from, old.addresses[flat] * old.tensor.itemsize);
    slide(byte, before, stripPlace(scene, to, byte.dataset.address * scene.tensor.itemsize));
  });
}

function slide(element, [fromX, fromY], [toX, toY]) {
  const frames = [[fromX, fromY], [toX, toY]].map(([x, y]) => ({ transform: `translate(${x}px, ${y}px)` }));
  element.animate(frames, { duration: MOVE_MS, easing: "ease-in-out" });
}

// Light the chosen element, its address, and every other element that lies there.
function point(view) {
  const { root, scene } = view;
  const flat = view.hovered ?? view.flat;
  const address = scene.addresses[flat];
  for (const lit of root.querySelectorAll(".lit, .chosen")) lit.classList.remove("lit", "chosen");
  const way = root.querySelector(".way");
  way.replaceChildren();
  if (address === undefined) {
    root.querySelector(".sum").textContent = view.data.words.no_element;
    return;
  }
  if (scene.isMany) {
    way.append(drawLights(scene, flat), drawNeedle(scene, flat));
    root.querySelector(".sum").textContent = sumOf(view, flat);
    return;
  }
  const cells = root.querySelectorAll(".cell");
  scene.addresses.forEach((each, place) => each === address && cells[place].classList.add("lit"));
  cells[flat].classList.add("chosen");
  root.querySelector(`.lane.own [data-address="${address}"]`)?.classList.add("lit", "chosen");
  way.append(drawNeedle(scene, flat));
  if (view.before !== null && view.hovered === null) way.append(drawJump(scene, view.before, flat));
  root.querySelector(".sum").textContent = sumOf(view, flat);
}

// "x[1, 2]: 0 + 1 · 4 + 2 · 1 = 6": one term for each dimension.
function sumOf({ data, scene }, flat) {
  const { tensor, addresses } = scene;
  const index = indexOf(flat, tensor.shape);
  const terms = [tensor.offset, ...index.map((place, axis) => `${place}·${tensor.stride[axis]}`)];
  const address = addresses[flat];
  const value = data.storages[tensor.storage].dtype === tensor.dtype ? data.storages[tensor.storage].values[address] : undefined;
  const words = { index: index.join(", "), sum: terms.join(" + "), address, byte: address * tensor.itemsize, value };
  return fill(value === undefined ? data.words.sum : data.words.sum_value, words);
}

function choose(view, flat) {
  const count = view.scene.addresses.length;
  if (!count) return;
  const kept = Math.min(Math.max(flat, 0), count - 1);
  view.before = kept === view.flat ? null : view.flat;
  view.flat = kept;
  view.hovered = null;
  point(view);
  tellSoon(view);
}

function chooseStep(view, step) {
  const { steps } = view.data;
  const kept = Math.min(Math.max(step, 0), steps.length - 1);
  if (kept === view.step) return;
  const old = view.scene;
  const address = old.addresses[view.flat];
  view.step = kept;
  const tensor = view.data.tensors[steps[kept].tensor];
  const after = addressesOf(tensor);
  const same = tensor.storage === old.tensor.storage ? after.indexOf(address) : view.flat;
  view.flat = same >= 0 && same < after.length ? same : 0;
  view.before = null;
  view.hovered = null;
  markSteps(view);
  build(view, old);
  tellSoon(view);
}

function tellSoon(view) {
  clearTimeout(view.telling);
  view.telling = setTimeout(() => {
    const index = indexOf(view.flat, view.scene.tensor.shape).join(",");
    view.report(`${view.step}:${index}`);
  }, TELL_MS);
}

function buildSteps(view) {
  const { steps, words } = view.data;
  const chips = steps.map((step, number) => {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.className = `step ${step.kind}`;
    const [code, badge] = [document.createElement("code"), document.createElement("span")];
    code.textContent = step.label;
    badge.textContent = step.badge;
    chip.append(code, badge);
    chip.onclick = () => chooseStep(view, number);
    return chip;
  });
  const place = view.root.querySelector(".steps");
  place.setAttribute("aria-label", words.steps);
  place.replaceChildren(...chips);
  markSteps(view);
}

function markSteps(view) {
  view.root.querySelectorAll(".step").forEach((chip, number) => chip.setAttribute("aria-pressed", number === view.step));
}

// Along a dimension, or to the next step: each arrow key has one.
function onKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { shape } = view.scene.tensor;
  const rank = shape.length;
  const along = (axis, by) => () => {
    if (axis < 0) return;
    const index = indexOf(view.flat, shape);
    index[axis] = Math.min(Math.max(index[axis] + by, 0), shape[axis] - 1);
    choose(view, flatOf(index, shape));
  };
  const act = {
    ArrowRight: along(rank - 1, 1),
    ArrowLeft: along(rank - 1, -1),
    ArrowDown: along(rank - 2, 1),
    ArrowUp: along(rank - 2, -1),
    PageDown: along(rank - 3, 1),
    PageUp: along(rank - 3, -1),
    Home: () => choose(view, 0),
    End: () => choose(view, view.scene.addresses.length - 1),
    "]": () => chooseStep(view, view.step + 1),
    "[": () => chooseStep(view, view.step - 1),
  }[event.key];
  if (!act) return;
  event.preventDefault(); // the page has keys of its own
  event.stopPropagation();
  act();
}

function flatAt(view, event) {
  const picture = view.root.querySelector(".picture");
  if (view.scene.isMany) {
    const { left, top, width } = picture.getBoundingClientRect();
    const scale = view.width / width;
    return flatUnder(view.scene, (event.clientX - left) * scale, (event.clientY - top) * scale);
  }
  const target = view.root.getRootNode().elementFromPoint(event.clientX, event.clientY) ?? picture;
  const cell = target.closest?.(".cell");
  if (cell) return Number(cell.dataset.flat);
  const byte = target.closest?.(".lane.own .byte");
  return byte ? view.scene.addresses.indexOf(Number(byte.dataset.address)) : -1;
}

function listenToPointer(view, picture) {
  const at = (event) => flatAt(view, event);
  picture.addEventListener("pointerdown", (event) => {
    const flat = at(event);
    if (flat >= 0) choose(view, flat);
  });
  picture.addEventListener("pointermove", (event) => {
    const flat = at(event);
    if (flat < 0) return;
    if (event.buttons) {
      if (flat !== view.flat) choose(view, flat);
    } else if (flat !== view.hovered) {
      view.hovered = flat;
      point(view);
    }
  });
  picture.addEventListener("pointerleave", () => {
    view.hovered = null;
    point(view);
  });
}

// Play walks through the elements in the tensor's order, once.
function play(view) {
  const { words } = view.data;
  const button = view.root.querySelector("[data-act=play]");
  const stop = () => {
    clearInterval(view.playing);
    view.playing = null;
    button.textContent = words.play;
  };
  if (view.playing) return stop();
  button.textContent = words.pause;
  if (view.flat >= view.scene.addresses.length - 1) choose(view, 0);
  view.playing = setInterval(() => {
    if (view.flat >= view.scene.addresses.length - 1 || !view.root.isConnected) return stop();
    choose(view, view.flat + 1);
  }, PLAY_MS);
}

const ACTS = {
  back: (view) => choose(view, view.flat - 1),
  next: (view) => choose(view, view.flat + 1),
  play,
  svg: (view) => saveAs(view, "svg"),
  png: (view) => saveAs(view, "png"),
};

const saveAs = (view, kind) => save(view.root.querySelector(".picture"), kind, view.data.file_name);

function newView(root) {
  const view = { root, step: 0, flat: 0, before: null, hovered: null };
  const picture = root.querySelector(".picture");
  picture.addEventListener("keydown", (event) => onKey(view, event));
  listenToPointer(view, picture);
  for (const [name, act] of Object.entries(ACTS)) root.querySelector(`[data-act=${name}]`).onclick = () => act(view);
  new ResizeObserver(() => {
    if (view.scene && Math.abs(root.clientWidth - view.width) > 2) build(view);
  }).observe(root);
  return view;
}

function applyWords(view) {
  const { words, present } = view.data;
  for (const name of Object.keys(ACTS)) {
    const button = view.root.querySelector(`[data-act=${name}]`);
    button.textContent = words[name];
    button.setAttribute("aria-label", words[`${name}_label`]);
    button.title = words[`${name}_label`];
  }
  view.root.querySelector(".picture").setAttribute("aria-label", words.picture);
  view.root.classList.toggle("present", present);
}

export default function ({ data: [data], parentElement, setStateValue }) {
  const root = parentElement.querySelector(".map");
  if (!VIEWS.has(root)) VIEWS.set(root, newView(root));
  const view = VIEWS.get(root);
  const look = JSON.stringify({ ...data, step: 0, index: [] });
  const chosen = JSON.stringify([data.step, data.index]);
  const [isNew, isElsewhere] = [look !== view.look, chosen !== view.heard];
  const old = view.scene ?? null;
  Object.assign(view, { data, look, heard: chosen });
  view.report = (value) => setStateValue("chosen", value);
  root.hidden = false;
  if (!isNew && !isElsewhere) return;
  if (isNew || isElsewhere) {
    const tensor = data.tensors[data.steps[data.step].tensor];
    view.step = data.step;
    const flat = data.index.length === tensor.shape.length ? flatOf(data.index, tensor.shape) : 0;
    if (flat !== view.flat || isNew) view.before = null;
    view.flat = flat;
  }
  if (isNew) {
    applyWords(view);
    buildSteps(view);
  }
  markSteps(view);
  build(view, old);
}

// For tests: what has an original in Python.
window[Symbol.for("bits-to-gpt.tensor-map")] = { addressesOf };
