// A view is what a hand has made of the window that Plotly has drawn: its middle lies `shift` windows
// farther right, and it is 2**`level` as wide. When the hand rests, Python is asked for the marks of the
// new window; until its chart has come, what is drawn is shifted and stretched, formats stay in their rows.
const HOME = { shift: 0, level: 0 };
const NOTCH = 100; // pixels of a wheel: twice as wide, or half
const MOST = 4; // powers of two at once
const PINCHED = 10; // a trackpad that is pinched tells few pixels
const FEW = 50;
const SAME_TURN = 600; // milliseconds between two notches of one turn of the wheel
const REST = 180; // milliseconds without a turn of the wheel, or of a hand that holds still
const LEAST = 0.15; // of a level: less is no zoom
const GLIDE = 0.4; // of the way that is left, in each frame
const BUSY = '[data-test-script-state]:not([data-test-script-state="notRunning"])';
const AXIS = "xaxis.range[0]";

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// What is under a place of the picture (0 left, 1 right) stays there.
export function zoomed({ shift, level }, place, by) {
  return { shift: shift + (place - 0.5) * (2 ** level - 2 ** (level + by)), level: level + by };
}

export function shifted({ shift, level }, share) {
  return { shift: shift + share * 2 ** level, level };
}

// The nearest view that shows nothing beyond both ends of what is drawn.
export function within({ shift, level }, low, high) {
  const width = Math.min(2 ** level, high - low);
  return { shift: clamp(shift, low + width / 2, high - width / 2), level: Math.log2(width) };
}

// The same view, of a chart with another window; no sum of these numbers may leave float64.
export function rebased({ shift, level }, from, to) {
  const width = from.high - from.low;
  const [times, way] = [(to.high - to.low) / width, ((to.low - from.low) / width + (to.high - from.high) / width) / 2];
  return { shift: (shift - way) / times, level: level - Math.log2(times) };
}

export function wholeLevel(level) {
  return Math.abs(level) < LEAST ? 0 : Math.sign(level) * Math.max(Math.round(Math.abs(level)), 1);
}

// Plotly's pieces along the axis: each with its pixel in the plot, and how it is put to another one.
function piecesOf(chart) {
  const { _offset: left, _length: length } = chart._fullLayout.xaxis;
  const all = (selector) => [...chart.querySelectorAll(selector)];
  const numbers = (text) => text?.match(/-?[\d.]+(e-?\d+)?/g)?.map(Number) ?? [0, 0];
  const move = (element, x, y) => element.setAttribute("transform", `translate(${x},${y})`);
  const show = (element, pixel) => (element.style.visibility = pixel < -1 || pixel > length + 1 ? "hidden" : "");
  const points = all(".scatterlayer path.point").map((point) => {
    const [x, y] = numbers(point.getAttribute("transform"));
    return { x, put: (pixel) => move(point, pixel, y) };
  });
  const ticks = ticksOf(chart, length).map(([tick, x]) => ({
    x,
    put: (pixel) => (move(tick, left + pixel, 0), show(tick, pixel)),
  }));
  const lines = all(".shapelayer path").map((line) => {
    const x = numbers(line.getAttribute("d"))[0] - left;
    return { x, put: (pixel) => move(line, pixel - x, 0) };
  });
  const notes = all(".annotation")
    .filter((note) => chart.layout.annotations[note.dataset.index].xref !== "paper")
    .map((note) => {
      const x = numbers(note.firstChild.getAttribute("transform"))[1] - left;
      return { x, put: (pixel) => (move(note, pixel - x, 0), show(note, pixel)) };
    });
  return { bars: all(".barlayer"), length, pieces: [...points, ...ticks, ...lines, ...notes] };
}

// Plotly draws the ticks of the window alone: those beside it are made after one of them.
function ticksOf(chart, length) {
  const [drawn] = chart.querySelectorAll(".xtick text");
  chart.querySelectorAll(".xtick text[data-beside]").forEach((tick) => tick.remove());
  const old = [...chart.querySelectorAll(".xtick text")];
  const { tickvals, ticktext } = chart.layout.xaxis;
  return tickvals.map((value, index) => {
    const known = old.find((tick) => tick.dataset.unformatted === ticktext[index]);
    const tick = known ?? drawn.parentNode.appendChild(drawn.cloneNode());
    if (!known) Object.assign(tick, { textContent: ticktext[index] }).dataset.beside = "";
    return [tick, (value + 0.5) * length];
  });
}

function put(chart, { bars, length, pieces }, { shift, level }) {
  const times = 2 ** -level;
  const at = (x) => ((x / length - 0.5 - shift) * times + 0.5) * length;
  for (const bar of bars) bar.setAttribute("transform", `translate(${at(0)},0) scale(${times},1)`);
  for (const { x, put: move } of pieces) move(at(x));
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const hand = (parentElement.hand ??= makeHand());
  hand.hear(data, setTriggerValue);
  return () => {
    hand.end();
    parentElement.hand = null;
  };
}

function makeHand() {
  let [data, send, chart, pieces, home] = [{}, null, null, null, null];
  let [wanted, seen, place, timer, frame] = [HOME, HOME, 0.5, 0, 0];
  let turned = -Infinity; // when the wheel was last turned on the picture
  let [told, asked, isDue] = [0, null, false]; // how often, of which chart, and whether there is more to tell
  const fingers = new Map(); // pointers on the picture: id -> where
  const marked = new WeakSet();
  const ending = new AbortController();

  const isHome = ({ shift, level }) => Math.abs(level) < 1e-6 && Math.abs(shift) * pieces.length < 0.5;
  const ends = () => [chart.layout.xaxis.minallowed, chart.layout.xaxis.maxallowed];
  const plane = () => chart.querySelector(".nsewdrag");
  const placeOf = (x) => (x - plane().getBoundingClientRect().left) / plane().getBoundingClientRect().width;
  const isDrawn = () => chart?.isConnected && plane()?.getBoundingClientRect().width > 0;
  const isOn = ({ target }) => pieces && isDrawn() && target === plane();

  // A new chart is looked at as the old one was, so that the hand feels no other.
  function adopt() {
    const found = document.querySelector(`.st-key-${data.chart} .js-plotly-plot`);
    if (!(found?._fullLayout?.xaxis?._length > 0) || found === chart) return;
    const [before, idle] = [home, !pieces || (isHome(wanted) && isHome(seen))];
    [chart, home] = [found, { ...found.layout.meta }];
    if (!data.moves) return void listenForMarks();
    const isOther = before && (before.low !== home.low || before.high !== home.high);
    const isBusy = fingers.size || timer || isDue;
    if (isOther) seen = idle ? HOME : rebased(seen, before, home);
    if (isOther) wanted = isBusy && !idle ? rebased(wanted, before, home) : HOME;
    pieces = piecesOf(chart);
    Object.assign(plane().style, { cursor: fingers.size ? "grabbing" : "grab", touchAction: "none" });
    chart.on("plotly_afterplot", () => (pieces = piecesOf(chart), show()));
    show();
  }

  function show(isGliding = true) {
    cancelAnimationFrame(frame);
    const goal = within(wanted, ...ends());
    const [now, then] = [2 ** seen.level, 2 ** goal.level];
    const isNear = Math.abs(now / then - 1) < 0.005 && Math.abs(seen.shift - goal.shift) < 0.002 * then;
    const way = isGliding && !isNear && !matchMedia("(prefers-reduced-motion: reduce)").matches ? GLIDE : 1;
    seen = way === 1 ? goal : {
      shift: seen.shift + (goal.shift - seen.shift) * way,
      level: Math.log2(now + (then - now) * way),
    };
    put(chart, pieces, seen);
    if (way !== 1) frame = requestAnimationFrame(() => show());
  }

  function restLater(wait) {
    clearTimeout(timer);
    timer = setTimeout(rest, wait);
  }

  function rest() {
    if (!isDrawn()) return restLater(REST);
    timer = 0;
    if (fingers.size < 2) {
      wanted = zoomed(wanted, place, wholeLevel(wanted.level) - wanted.level);
      wanted.level = Math.round(wanted.level);
      show();
    }
    tell();
  }

  function tell() {
    if (asked) return void (isDue = true);
    isDue = false;
    if (isHome(wanted)) return;
    [told, asked] = [told + 1, chart];
    send("hand", [told, home.low, wanted.shift, wanted.level].join(" "));
    setTimeout(answer, 30);
  }

  // What came to nothing (the line ends there) glides back.
  function answer() {
    if (data.answered !== told || document.querySelector(BUSY)) return void setTimeout(answer, 30);
    adopt();
    const isSame = asked === chart;
    asked = null;
    if (isDue) tell();
    else if (isSame && !fingers.size && !timer) {
      wanted = HOME;
      show();
    }
  }

  const grip = () => {
    const [a, b = a] = [...fingers.values()];
    return { x: (a.x + b.x) / 2, spread: Math.max(Math.hypot(a.x - b.x, a.y - b.y), 20) };
  };
  const halt = (event) => (event.preventDefault(), event.stopPropagation());

  function press(event) {
    if (!isOn(event) || event.button !== 0) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    chart.querySelector(".hoverlayer").replaceChildren();
    plane().style.cursor = "grabbing";
    document.activeElement?.blur();
  }

  function move(event) {
    if (!fingers.has(event.pointerId)) return;
    if (!event.buttons) return void release(event);
    if (!isDrawn()) return; // the next chart will make up for it
    const before = grip();
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const after = grip();
    place = placeOf(before.x);
    wanted = shifted(wanted, place - placeOf(after.x));
    if (fingers.size > 1) wanted = zoomed(wanted, placeOf(after.x), Math.log2(before.spread / after.spread));
    else wanted = within(wanted, ...ends()); // what lies beyond comes with the next chart, or is not there
    show(false);
    restLater(REST);
  }

  function release({ pointerId }) {
    if (!fingers.delete(pointerId) || fingers.size) return;
    if (isDrawn()) plane().style.cursor = "grab";
    restLater(0);
  }

  function zoom(event, by) {
    halt(event);
    if (isDrawn()) place = placeOf(event.clientX);
    wanted = zoomed(wanted, place, by);
    if (!isDrawn()) return restLater(REST); // the next chart will make up for it
    show();
    const [low, high] = ends();
    restLater(2 ** wanted.level > high - low ? 0 : REST);
  }

  function turn(event) {
    // A turn that began on the picture stays with it, also where the next chart is being drawn.
    const isSameTurn = pieces && event.timeStamp - turned < SAME_TURN;
    if (!isOn(event) && !isSameTurn) return;
    turned = event.timeStamp;
    const isPinch = event.ctrlKey && Math.abs(event.deltaY) < FEW;
    const unit = [1, NOTCH / 3, NOTCH][event.deltaMode] * (isPinch ? PINCHED : 1);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      wanted = within(shifted(wanted, (event.deltaX * unit) / pieces.length), ...ends());
      return zoom(event, 0);
    }
    zoom(event, clamp((event.deltaY * unit) / NOTCH, -MOST, MOST));
  }

  function listenForMarks() {
    if (marked.has(chart)) return;
    marked.add(chart);
    const [{ low }, whole] = [home, [...chart._fullLayout.xaxis.range]];
    chart.on("plotly_relayout", (changes) => {
      const range = AXIS in changes && [...chart._fullLayout.xaxis.range];
      if (range && (range[0] > whole[0] || range[1] < whole[1])) send("hand", [++told, low, ...range].join(" "));
    });
  }

  const listeners = {
    pointerdown: press,
    pointermove: move,
    pointerup: release,
    pointercancel: release,
    wheel: turn,
    dblclick: (event) => isOn(event) && zoom(event, event.shiftKey ? 1 : -1),
    mousedown: (event) => isOn(event) && halt(event), // Plotly would begin a drag of its own
    touchstart: (event) => isOn(event) && event.stopPropagation(),
    mousemove: (event) => fingers.size && event.stopPropagation(), // and name what lies under the hand
  };
  const options = { capture: true, passive: false, signal: ending.signal };
  for (const [type, listener] of Object.entries(listeners)) document.addEventListener(type, listener, options);
  const watcher = new MutationObserver(adopt);
  watcher.observe(document.body, { childList: true, subtree: true });
  return {
    hear(news, trigger) {
      if (news.chart !== data.chart) [chart, home, pieces, wanted, seen] = [null, null, null, HOME, HOME];
      [data, send] = [news, trigger];
      told = Math.max(told, news.answered);
      adopt();
    },
    end() {
      ending.abort();
      watcher.disconnect();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    },
  };
}
