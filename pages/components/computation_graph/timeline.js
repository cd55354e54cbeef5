// The graph at one step. Python has said at which step each text comes: here the last one that has
// come is looked up, so that a scrubbed step needs none of the steps before it.

const PLAY_MS = 700;
const SPEEDS = [1, 2, 4, 16];

function lastOf(changes, step) {
  let found;
  for (const [at, what] of changes) {
    if (at > step) break;
    found = what;
  }
  return found;
}

// All ways from the result to the chosen box: of a parameter, by which its gradient came.
function waysTo(data, id) {
  const [onWay, waiting] = [new Set(), id ? [id] : []];
  for (const box of waiting) {
    for (const link of data.links) {
      if (link.target !== box || link.is_cut || onWay.has(link.id)) continue;
      onWay.add(link.id);
      waiting.push(link.source);
    }
  }
  return onWay;
}

function showStep(view) {
  const { data, step } = view;
  if (view.waysOf !== view.selected || view.waysIn !== data) {
    Object.assign(view, { ways: waysTo(data, view.selected), waysOf: view.selected, waysIn: data });
  }
  const now = data.events[step]?.box ?? "";
  for (const row of data.boxes) showBox(view, row, step, now);
  for (const row of data.links) showLink(view, row, step);
  markOnMap(view, now);
  showSentence(view);
}

function showBox(view, row, step, now) {
  const box = view.boxes.get(row.id);
  const [is_there, isNow, isChosen] = [row.appears <= step, row.id === now, row.id === view.selected];
  const value = is_there ? (lastOf(row.values, step) ?? "") : "";
  const gradient = lastOf(row.gradients, step) ?? "";
  const isLocked = lastOf(row.locks, step);
  const hasRun = row.ran !== null && row.ran <= step;
  const shown = JSON.stringify([is_there, isNow, isChosen, value, gradient, isLocked, hasRun, view.texts]);
  if (shown === box.shown) return;
  box.shown = shown;
  const classes = ["box", row.kind];
  const flags = { future: !is_there, now: isNow, chosen: isChosen, second: row.second, ran: hasRun, hot: row.heat !== null && gradient, found: row.finding && hasRun };
  box.group.setAttribute("class", [...classes, ...Object.keys(flags).filter((name) => flags[name])].join(" "));
  box.group.style.setProperty("--heat", row.heat ?? 0);
  writeBox(view.data.words, row, box, { value, gradient, isLocked, hasRun });
}

function writeBox(words, row, box, { value, gradient, isLocked, hasRun }) {
  const times = row.times > 1 ? ` ${fill(words.times, { count: row.times })}` : "";
  box.label.textContent = `${row.label}${times}${row.opens ? " ▸" : ""}`;
  box.value.textContent = value;
  box.gradient.textContent = row.reason || (gradient && fill(words.gradient, { text: gradient }));
  box.lock.style.display = isLocked === undefined ? "none" : "";
  box.lock.querySelector(".closed").style.display = isLocked ? "" : "none";
  box.lock.querySelector(".opened").style.display = isLocked ? "none" : "";
  box.order.textContent = row.order !== null && hasRun ? `${row.order + 1}` : "";
  box.finding.textContent = hasRun ? row.finding : "";
  const said = { label: row.label, value: value || words.nothing, gradient: gradient || words.nothing };
  const more = [row.reason, row.finding, row.more].filter(Boolean).join("; ");
  box.group.setAttribute("aria-label", fill(words.box, { ...said, more }));
}

function showLink(view, row, step) {
  const link = view.links.get(row.id);
  const goesBack = row.goes_back !== null && row.goes_back <= step;
  const flags = { cut: row.is_cut, future: row.appears > step, back: goesBack, now: row.goes_back === step, onway: view.ways.has(row.id) };
  const classes = ["link", ...Object.keys(flags).filter((name) => flags[name])].join(" ");
  const shown = classes + row.text + row.operation;
  if (shown === link.shown) return;
  link.shown = shown;
  link.group.setAttribute("class", classes);
  link.operation.textContent = row.operation;
  link.contribution.textContent = goesBack && row.text ? `${view.data.present ? "" : "← "}${row.text}` : "";
  link.group.querySelector(".backwards").style.display = goesBack ? "" : "none";
}

function showSentence(view) {
  const { data, step, root } = view;
  const { events, words } = data;
  const event = events[step];
  const text = event ? fill(data.sentences[event.kind], event.words) : words.start;
  root.querySelector(".sentence").textContent = fill(words.step, { step: step + 1, count: events.length, text });
  root.querySelector(".bytes").textContent = event ? fill(words.saved, { size: event.saved }) : "";
  const cursor = root.querySelector(".curve line");
  for (const [name, at] of Object.entries({ x1: step + 1, x2: step + 1, y1: 0, y2: 1.05 })) cursor.setAttribute(name, at);
  root.querySelector(".time").value = step;
  showQueue(root.querySelector(".queue"), event, words);
}

function showQueue(place, event, words) {
  const chips = (event?.waiting ?? []).map((label) => {
    const chip = document.createElement("span");
    chip.textContent = label;
    return chip;
  });
  const more = event?.num_more ? [fill(words.queue_more, { count: event.num_more })] : [];
  place.replaceChildren(...(chips.length ? [words.queue, ...chips, ...more] : []));
}

function goTo(view, step) {
  const kept = Math.min(Math.max(step, -1), view.data.events.length - 1);
  if (kept === view.step) return;
  view.step = kept;
  showStep(view);
  keepStepInSight(view);
  if (!view.playing) tellStep(view);
}

function play(view) {
  const { root, data } = view;
  const button = root.querySelector("[data-act=play]");
  const stop = () => {
    clearInterval(view.playing);
    view.playing = null;
    button.textContent = data.words.play;
    tellStep(view);
  };
  if (view.playing) return stop();
  if (view.step >= data.events.length - 1) goTo(view, -1);
  button.textContent = data.words.pause;
  const isAtEnd = () => view.step >= view.data.events.length - 1;
  view.playing = setInterval(() => {
    if (!isAtEnd() && root.isConnected) goTo(view, view.step + 1);
    if (isAtEnd() || !root.isConnected) stop();
  }, PLAY_MS / view.speed);
}

function changeSpeed(view) {
  view.speed = SPEEDS[(SPEEDS.indexOf(view.speed) + 1) % SPEEDS.length];
  view.root.querySelector("[data-act=speed]").textContent = fill(view.data.words.speed, view);
  if (!view.playing) return;
  play(view);
  play(view);
}
