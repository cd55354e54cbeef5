// Which part of the graph is seen, and how large: dragged, zoomed and fitted without asking Python.

const SMALLEST = 0.02;
const LARGEST = 4;
const READABLE = 0.55; // a graph that would become smaller is not shown whole at first
const LEGIBLE = 0.8; // how large its end is shown then
const ON_POSTER = { width: 1500, height: 440, smallest: 0.4 }; // its room, and what can be read there
const MARGIN = 24;
const TOP = 52; // above it stand the tools
const MARGIN_FROM_AFAR = 12; // where the tools stand below the picture
const TOP_FROM_AFAR = 30; // for what stands on the uppermost box

function place(view) {
  const { x, y, scale } = view.camera;
  const picture = view.root.querySelector(".picture");
  picture.querySelector(".world").setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  if (isForTheWall(view)) picture.dataset.frame = wholeOf(view).join(" ");
  else delete picture.dataset.frame;
  showMap(view);
}

// A poster holds what a reader has zoomed or moved to; else the whole graph, if it can be read there.
function isForTheWall({ camera, data: { size } }) {
  const scale = Math.min(ON_POSTER.width / size[0], ON_POSTER.height / size[1]);
  return camera.isFitted && scale > ON_POSTER.smallest;
}

// Where the whole graph lies in the picture.
function wholeOf({ camera: { x, y, scale }, data: { size } }) {
  const [width, height] = size.map((length) => (length + 2 * MARGIN) * scale);
  return [x - MARGIN * scale, y - MARGIN * scale, width, height];
}

// What of the picture is free for the graph at a scale: a part of it leaves room for the map.
function free(view, scale) {
  const [margin, top] = view.data.present ? [MARGIN_FROM_AFAR, TOP_FROM_AFAR] : [MARGIN, TOP];
  const [width, height] = [view.width - 2 * margin, view.height - top - margin];
  const isWhole = view.data.size[0] * scale <= width + 1 && view.data.size[1] * scale <= height + 1;
  return { margin, top, width, height: isWhole ? height : height - mapSize(view)[1] - margin / 2, isWhole };
}

// All of it, or as much of it as can be read.
function fit(view, smallest = SMALLEST, instead = SMALLEST) {
  const [width, height] = view.data.size;
  const room = free(view, 0);
  const whole = Math.min(room.width / Math.max(width, 1), room.height / Math.max(height, 1), 1.25);
  const scale = whole < smallest ? instead : whole;
  const { margin, top, width: wide, height: high, isWhole } = free(view, scale);
  const [spareX, spareY] = [wide - width * scale, high - height * scale];
  view.camera = { x: margin + (spareX < 0 ? spareX : spareX / 2), y: top + spareY / 2, scale, isFitted: true };
  place(view);
  if (!isWhole) showWhatMatters(view);
}

// The end, where the loss is, or the chosen box; and what happens at a step that is not the last.
function showWhatMatters(view) {
  const { boxes } = view.data;
  const row = boxes.find(({ id }) => id === view.selected) ?? boxes.at(-1);
  const { top, height } = free(view, view.camera.scale);
  if (row && view.data.size[1] * view.camera.scale > height) view.camera.y = top + height / 2 - (row.place[1] + row.place[3] / 2) * view.camera.scale;
  place(view);
  keepInSight(view, row?.id);
  if (view.data.step !== null) keepStepInSight(view);
}

const keepStepInSight = (view) => keepInSight(view, view.data.events[view.step]?.box);

function zoom(view, factor, [atX, atY] = [view.width / 2, view.height / 2]) {
  const { x, y, scale } = view.camera;
  const next = Math.min(Math.max(scale * factor, SMALLEST), LARGEST);
  const grown = next / scale;
  view.camera = { x: atX - (atX - x) * grown, y: atY - (atY - y) * grown, scale: next };
  place(view);
}

// Moves only if a box would be out of sight: as little as can be, or, from far away, into the middle.
function keepInSight(view, id) {
  const row = view.data.boxes.find((each) => each.id === id);
  if (!row || view.isDragged) return;
  const [left, top, width, height] = row.place;
  const { x, y, scale } = view.camera;
  const room = free(view, scale);
  const shift = (from, length, before, whole) => {
    const least = Math.max(before - from, 0) || Math.min(before + whole - from - length, 0);
    return length > whole || Math.abs(least) > whole ? before + (whole - length) / 2 - from : least;
  };
  const across = shift(left * scale + x, width * scale, room.margin, room.width);
  const down = shift(top * scale + y, height * scale, room.top, room.height);
  if (!across && !down) return;
  view.camera = { ...view.camera, x: x + across, y: y + down };
  place(view);
}

function listenToPointer(view, picture) {
  let from = null;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    from = { x: event.clientX, y: event.clientY, camera: view.camera };
  });
  picture.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [across, down] = [event.clientX - from.x, event.clientY - from.y];
    if (!view.isDragged && Math.hypot(across, down) < 5) return;
    if (!view.isDragged) picture.setPointerCapture(event.pointerId);
    view.isDragged = true;
    picture.classList.add("dragged");
    view.camera = { x: from.camera.x + across, y: from.camera.y + down, scale: from.camera.scale };
    place(view);
  });
  const end = (event) => {
    if (from && !view.isDragged && event.type === "pointerup") {
      const target = view.root.getRootNode().elementFromPoint(event.clientX, event.clientY);
      const box = target?.closest?.("[data-box]");
      if (box) choose(view, box.dataset.box);
    }
    [from, view.isDragged] = [null, false];
    picture.classList.remove("dragged");
  };
  picture.addEventListener("pointerup", end);
  picture.addEventListener("pointercancel", end);
  picture.addEventListener("dblclick", () => openChosen(view));
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    const { left, top } = picture.getBoundingClientRect();
    zoom(view, Math.exp(-event.deltaY / 400), [event.clientX - left, event.clientY - top]);
  }, { passive: false });
}
