// One step as SVG: the grid of its tensor above, the storages below, a needle between them.

const LARGEST_CELL = 46;
const TEXT_FROM = 40; // pixels: smaller cells carry no text
const STRIP_ROW = 46;
const LABEL = 26; // above a grid and above a strip
const GAP = 34; // between a strip and what stands below it: the jump is written there

// Everything that a step's picture is made of, in pixels.
function sceneOf(view) {
  const { data, step, width, room } = view;
  const tensor = data.tensors[data.steps[step].tensor];
  const label = data.present ? LABEL * 1.5 : LABEL;
  const addresses = addressesOf(tensor);
  const left = data.present ? 96 : 70; // for what stands beside the grid
  const places = placesOf(tensor.shape);
  const storages = shownStorages(view);
  const numBytes = Math.max(...storages.map((each) => Math.max(each.num_bytes, 1)));
  const shared = Math.max((room - label * 2) * 0.45, 60) / storages.length - label - GAP / 2;
  const stripRoom = Math.max(shared, LOWEST_ROOM);
  const strip = stripOf(numBytes, width - 4, stripRoom, LARGEST_CELL / 4);
  const lanes = placeLanes(storages, strip);
  const laneHeight = lanes.reduce((sum, lane) => sum + lane.height + label + GAP / 2, 0);
  const gridRoom = Math.max(room - laneHeight - label * 2 - GAP, 40);
  const cell = Math.min(LARGEST_CELL, (width - left - 20) / places.width, gridRoom / places.height);
  const gridHeight = places.height * cell;
  let top = label + gridHeight + GAP;
  for (const lane of lanes) {
    lane.top = top + label;
    top = lane.top + lane.height + GAP / 2;
  }
  const scene = { tensor, addresses, places, cell, strip, lanes, left, top: label, gridHeight, height: top };
  return { ...scene, isMany: numCells(scene) > MANY };
}

const LOWEST_ROOM = 28; // of a strip: so much holds a number
const ROOM_FOR_THREE = 400;

// The storage of the shown tensor, and the last one or two others that the steps up to it have made.
function shownStorages({ data, step, room }) {
  const seen = [];
  for (const { tensor } of data.steps.slice(0, step + 1)) {
    const { storage } = data.tensors[tensor];
    if (!seen.includes(storage)) seen.push(storage);
  }
  const own = data.tensors[data.steps[step].tensor].storage;
  const others = seen.filter((key) => key !== own).slice(room < ROOM_FOR_THREE ? -1 : -2);
  return seen.filter((key) => key === own || others.includes(key)).map((key) => data.storages[key]);
}

function placeLanes(storages, strip) {
  return storages.map((storage) => {
    const rows = Math.max(Math.ceil(storage.num_bytes / strip.bytesInRow), 1);
    return { storage, height: rows * strip.rowHeight };
  });
}

function cellPlace(scene, flat) {
  const [x, y] = scene.places.at(flat);
  return [scene.left + x * scene.cell, scene.top + y * scene.cell];
}

function stripPlace(scene, lane, byte) {
  const { bytesInRow, byteWidth, rowHeight } = scene.strip;
  return [2 + (byte % bytesInRow) * byteWidth, lane.top + Math.floor(byte / bytesInRow) * rowHeight];
}

const laneOf = (scene) => scene.lanes.find(({ storage }) => storage.key === scene.tensor.storage);

function box(x, y, width, height, classes, text) {
  const group = node("g", { class: classes, transform: `translate(${x} ${y})` });
  const inset = Math.min(1.5, width * 0.08);
  group.append(node("rect", { x: inset, y: inset, width: width - 2 * inset, height: height - 2 * inset, rx: Math.min(4, width * 0.1) }));
  if (text !== "" && width >= TEXT_FROM && height >= 24) {
    group.append(node("text", { x: width / 2, y: height / 2 + 5, "text-anchor": "middle" }, text));
  }
  return group;
}

function drawGrid(view, scene) {
  if (scene.isMany) return drawManyCells(view, scene);
  const { tensor, addresses, cell } = scene;
  const values = valuesFor(view, tensor);
  const grid = node("g", { class: "cells" });
  addresses.forEach((address, flat) => {
    const [x, y] = cellPlace(scene, flat);
    const made = box(x, y, cell, cell, "cell", values ? values[address] ?? "" : "");
    made.dataset.flat = flat;
    markChanged(made, view.data.storages[tensor.storage], address, tensor.itemsize, cell, cell);
    grid.append(made);
  });
  return grid;
}

// Addresses are those of the storage's first dtype.
function wasWritten(storage, address, itemsize) {
  const [first, end] = [address * itemsize, (address + 1) * itemsize];
  return storage.changed.some((each) => each * storage.itemsize < end && (each + 1) * storage.itemsize > first);
}

// A corner on what a write has changed.
function markChanged(made, storage, address, itemsize, width, height) {
  if (!wasWritten(storage, address, itemsize)) return;
  made.classList.add("changed");
  const corner = Math.min(12, width / 2, height / 2);
  made.append(node("path", { class: "mark", d: `M1.5 1.5 h${corner} l${-corner} ${corner} z` }));
}

// Values belong to a storage in one dtype; seen through another they are other numbers.
function valuesFor({ data }, tensor) {
  const storage = data.storages[tensor.storage];
  return storage.dtype === tensor.dtype ? storage.values : null;
}

// The last two dimensions are named beside the grid, with how far a step along them leads.
function drawAxes(view, scene) {
  const { tensor, cell, left, top, gridHeight } = scene;
  const { words } = view.data;
  const axes = node("g", { class: "axes" });
  const rank = tensor.shape.length;
  const named = (axis) => fill(words.axis, { axis, stride: tensor.stride[axis] });
  if (rank > 0) axes.append(node("text", { x: left, y: top - 8 }, named(rank - 1)));
  if (rank > 1) {
    const y = top + Math.min(gridHeight, tensor.shape[rank - 2] * cell) / 2;
    axes.append(node("text", { x: 4, y, class: "down" }, fill(words.axis_short, { axis: rank - 2 })));
    axes.append(node("text", { x: 4, y: y + (view.data.present ? 26 : 18), class: "down" }, fill(words.stride_short, { stride: tensor.stride[rank - 2] })));
  }
  return axes;
}

function drawLane(view, scene, lane) {
  const { storage } = lane;
  const { words } = view.data;
  const isOwn = storage.key === scene.tensor.storage;
  const itemsize = isOwn ? scene.tensor.itemsize : storage.itemsize;
  const readers = isOwn ? readersOf(scene.addresses) : new Map();
  const group = node("g", { class: isOwn ? "lane own" : "lane" });
  group.append(node("text", { x: nameLeft(view, scene, isOwn), y: lane.top - 7, class: "name" }, fill(words.storage, storage)));
  group.append(...(scene.isMany ? drawManyBytes(scene, lane, itemsize, readers) : drawBytes(view, scene, lane, itemsize, readers)));
  group.append(...drawRulers(scene, lane));
  if (isOwn) group.append(drawOffset(view, scene, lane));
  return group;
}

// A storage's name begins where the strip does, or behind the offset's arrow if that is in its way.
function nameLeft(view, scene, isOwn) {
  const { tensor, strip } = scene;
  const wide = view.data.present ? 1.5 : 1;
  const arrow = 2 + ((tensor.offset * tensor.itemsize) % strip.bytesInRow + tensor.itemsize / 2) * strip.byteWidth;
  return isOwn && arrow < 140 * wide ? arrow + (tensor.offset ? 80 * wide : 14) : 2;
}

function drawBytes(view, scene, lane, itemsize, readers) {
  const { storage } = lane;
  const isOwn = storage.key === scene.tensor.storage;
  const values = isOwn ? valuesFor(view, scene.tensor) : storage.values;
  const bytes = [];
  for (let address = 0; (address + 1) * itemsize <= storage.num_bytes; address += 1) {
    const [x, y] = stripPlace(scene, lane, address * itemsize);
    const times = readers.get(address)?.length ?? 0;
    const classes = `byte ${times ? "read" : "gap"}`;
    const made = box(x, y, itemsize * scene.strip.byteWidth, scene.strip.rowHeight, classes, values ? values[address] ?? "" : "");
    made.dataset.address = address;
    if (times > 1) made.append(timesBadge(view, scene, lane, itemsize, times));
    markChanged(made, storage, address, itemsize, itemsize * scene.strip.byteWidth, scene.strip.rowHeight);
    bytes.push(made);
  }
  return bytes;
}

// How many elements lie at an address: below the cell, or in its corner where another row is below.
function timesBadge(view, { strip }, lane, itemsize, times) {
  const width = itemsize * strip.byteWidth;
  const isBelow = lane.height === strip.rowHeight;
  const place = isBelow ? { x: width / 2, y: strip.rowHeight + (view.data.present ? 16 : 12), "text-anchor": "middle" } : { x: width - 3, y: 11, "text-anchor": "end" };
  return node("text", { class: isBelow ? "times below" : "times", ...place }, `×${times}`);
}

// A line where each 64 bytes begin: a processor fetches them together.
function drawRulers(scene, lane) {
  const { bytesInRow, byteWidth, rowHeight } = scene.strip;
  const rulers = [];
  for (let byte = LINE_BYTES; byte < lane.storage.num_bytes; byte += LINE_BYTES) {
    if (byte % bytesInRow === 0) continue;
    const [x, y] = stripPlace(scene, lane, byte);
    rulers.push(node("line", { class: "ruler", x1: x, x2: x, y1: y - 3, y2: y + rowHeight + 3 }));
  }
  return rulers;
}

function drawOffset(view, scene, lane) {
  const { tensor, strip } = scene;
  const [x, y] = stripPlace(scene, lane, tensor.offset * tensor.itemsize);
  const group = node("g", { class: "offset", transform: `translate(${x} ${y})` });
  if (tensor.offset * tensor.itemsize >= Math.max(lane.storage.num_bytes, 1)) return group;
  const middle = (tensor.itemsize * strip.byteWidth) / 2;
  group.append(node("path", { d: `M${middle} -1 l-6 -9 h12 z` }));
  if (tensor.offset) group.append(node("text", { x: middle + 9, y: -7 }, fill(view.data.words.offset, tensor)));
  return group;
}

function drawNeedle(scene, flat) {
  const lane = laneOf(scene);
  const [x, y] = cellPlace(scene, flat);
  const [sx, sy] = stripPlace(scene, lane, scene.addresses[flat] * scene.tensor.itemsize);
  // Between two columns down to the last row: it runs over no number.
  const from = [x + scene.cell, scene.top + scene.places.height * scene.cell];
  const to = [sx + (scene.tensor.itemsize * scene.strip.byteWidth) / 2, sy];
  const bend = Math.max((to[1] - from[1]) * 0.5, 12);
  const d = `M${from[0]} ${y + scene.cell / 2} L${from} C${from[0]} ${from[1] + bend} ${to[0]} ${to[1] - bend} ${to}`;
  return node("path", { class: "needle", d });
}

// From the element before to this one: how far the needle has jumped.
function drawJump(scene, before, flat) {
  const lane = laneOf(scene);
  const [from, to] = [before, flat].map((each) => scene.addresses[each]);
  const middle = (scene.tensor.itemsize * scene.strip.byteWidth) / 2;
  const [[x1, y1], [x2, y2]] = [from, to].map((address) => stripPlace(scene, lane, address * scene.tensor.itemsize));
  const group = node("g", { class: "jump" });
  const low = Math.max(y1, y2) + scene.strip.rowHeight;
  if (y1 === y2 && from !== to) {
    group.append(node("path", { d: `M${x1 + middle} ${low} q${(x2 - x1) / 2} 22 ${x2 - x1} 0` }));
    const sign = to > from ? "+" : "−";
    group.append(node("text", { x: (x1 + x2) / 2 + middle, y: low + 27, "text-anchor": "middle" }, `${sign}${Math.abs(to - from)}`));
  }
  return group;
}
