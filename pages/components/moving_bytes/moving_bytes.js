// Devices and the bytes between them. Time and the chosen device move here; Python hears of a step
// once the picture rests, and knows every word and number that is shown.

const TELL_MS = 250;
const SPEEDS = [1, 2, 4, 0.5];
const TURN_MS = { most: 1100, least: 220, all: 16000 };
const VIEWS = new WeakMap();

const lastOf = (view) => view.data.turns.length;
const turnMs = (view) => Math.max(TURN_MS.least, Math.min(TURN_MS.most, TURN_MS.all / lastOf(view))) / view.speed;

function goTo(view, time) {
  view.time = Math.max(0, Math.min(time, lastOf(view)));
  const turn = Math.floor(view.time);
  if (turn !== view.turn) {
    view.turn = turn;
    showTurn(view);
  }
  showParcels(view, view.time - turn);
  view.clock.value = view.time;
  if (!view.playing) tell(view);
}

function tell(view) {
  clearTimeout(view.telling);
  view.telling = setTimeout(() => {
    if (view.turn === (view.told ?? view.given)) return;
    view.told = view.turn;
    view.report("turn", String(view.turn));
  }, TELL_MS);
}

function play(view) {
  const button = view.root.querySelector("[data-act=play]");
  const stop = () => {
    cancelAnimationFrame(view.playing);
    view.playing = null;
    button.textContent = view.data.words.play;
    tell(view);
  };
  if (view.playing) return stop();
  if (view.time >= lastOf(view)) goTo(view, 0);
  button.textContent = view.data.words.pause;
  let before = null;
  const frame = (now) => {
    const passed = before === null ? 0 : now - before;
    before = now;
    view.playing = requestAnimationFrame(frame);
    goTo(view, view.time + passed / turnMs(view));
    if (view.time >= lastOf(view) || !view.root.isConnected) stop();
  };
  view.playing = requestAnimationFrame(frame);
}

function choose(view, rank) {
  const { length } = view.data.devices;
  view.chosen = ((rank % length) + length) % length;
  showDevice(view);
}

const goBack = (view) => goTo(view, Math.ceil(view.time) - 1);
const goOn = (view) => goTo(view, Math.floor(view.time) + 1);

function onKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    ArrowLeft: () => goBack(view),
    ArrowRight: () => goOn(view),
    ArrowUp: () => choose(view, view.chosen - 1),
    ArrowDown: () => choose(view, view.chosen + 1),
    Home: () => goTo(view, 0),
    End: () => goTo(view, lastOf(view)),
    " ": () => play(view),
  }[event.key];
  if (!act) return;
  event.preventDefault(); // the page has keys of its own
  event.stopPropagation();
  act();
}

function changeSpeed(view) {
  view.speed = SPEEDS[(SPEEDS.indexOf(view.speed) + 1) % SPEEDS.length];
  view.root.querySelector("[data-act=speed]").textContent = fill(view.data.words.speed, view);
}

const ACTS = {
  back: goBack,
  play,
  next: goOn,
  speed: changeSpeed,
  svg: (view) => saveAs(view, "svg"),
  png: (view) => saveAs(view, "png"),
};

const saveAs = (view, kind) => save(view.root.querySelector(".picture"), kind, view.data.file_name);

function newView(root) {
  const view = { root, clock: root.querySelector(".time"), time: 0, turn: -1, speed: 1, chosen: 0, playing: null, told: null, given: null };
  const picture = root.querySelector(".picture");
  picture.addEventListener("keydown", (event) => onKey(view, event));
  for (const kind of ["pointerover", "click"]) {
    picture.addEventListener(kind, (event) => {
      const box = event.target.closest(".device-box");
      if (box) choose(view, Number(box.dataset.rank));
    });
  }
  view.clock.addEventListener("input", () => goTo(view, Number(view.clock.value)));
  for (const [name, act] of Object.entries(ACTS)) root.querySelector(`[data-act=${name}]`).onclick = () => act(view);
  new ResizeObserver(() => {
    if (view.data && Math.abs(root.clientWidth - view.width) > 2) draw(view);
  }).observe(root);
  return view;
}

function draw(view) {
  view.width = Math.max(Math.floor(view.root.clientWidth), 280);
  view.chosen = Math.min(view.chosen, view.data.devices.length - 1);
  view.turn = -1;
  buildScene(view);
  showDevice(view);
  goTo(view, view.time);
}

function applyWords(view) {
  const { words } = view.data;
  for (const name of Object.keys(ACTS)) {
    const button = view.root.querySelector(`[data-act=${name}]`);
    button.textContent = name === "play" && view.playing ? words.pause : fill(words[name], view);
    button.setAttribute("aria-label", words[`${name}_label`]);
    button.title = words[`${name}_label`];
  }
  view.root.querySelector(".picture").setAttribute("aria-label", words.picture);
  view.clock.setAttribute("aria-label", words.timeline);
  view.clock.max = lastOf(view);
}

export default function ({ data: [data], parentElement, setStateValue }) {
  const root = parentElement.querySelector(".bytes");
  if (!VIEWS.has(root)) VIEWS.set(root, newView(root));
  const view = VIEWS.get(root);
  view.report = (name, value) => setStateValue(name, value);
  const look = JSON.stringify({ ...data, turn: 0 });
  // A step of Python's is followed if it is news: not what it was, nor what was told here.
  if (data.turn !== view.given && data.turn !== view.told) view.time = data.turn;
  const isNew = look !== view.look;
  const isMoved = data.turn !== view.given && Math.floor(view.time) === data.turn;
  Object.assign(view, { data, look, given: data.turn });
  root.hidden = false;
  root.classList.toggle("present", data.present);
  if (isNew) {
    applyWords(view);
    draw(view);
  } else if (isMoved) goTo(view, view.time);
}
