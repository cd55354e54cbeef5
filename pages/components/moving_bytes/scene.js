// Where devices stand and links run: two rows, the second one back again, so that a ring is one.

const MARGIN = 8;
const MOST_CELLS = 16; // of a strip; of more chunks only their sum is shown
const STRIP = 11; // pixels
const GAP = 10; // pixels from a strip to the messages that leave
const WIDEST = 150;
const ONE_ROW = 3; // devices

function measured(view) {
  const { data, width } = view;
  const letters = data.present ? 22 : 15;
  const numRanks = data.devices.length;
  const numRows = numRanks <= ONE_ROW ? 1 : 2;
  const inRow = Math.ceil(numRanks / numRows);
  const slot = (width - 2 * MARGIN) / inRow;
  const wide = Math.min(slot * 0.8, WIDEST);
  const line = letters * 1.35;
  const isRoomy = slot > letters * 8;
  const head = view.legendHeight + line;
  const foot = numRows === 1 ? data.room * 0.4 : line + 4;
  const middle = numRows === 1 ? 0 : data.room * 0.3;
  const high = (data.room - head - foot - middle - numRows * (STRIP + 3)) / numRows;
  return { letters, line, numRanks, numRows, inRow, slot, wide, high, head, middle, isRoomy };
}

// The corner of each device's bar, and the port where messages leave and arrive.
function placesOf(place) {
  const { numRanks, numRows, inRow, slot, wide, high, head, middle } = place;
  return Array.from({ length: numRanks }, (_, rank) => {
    const isBelow = numRows === 2 && rank >= inRow;
    const column = isBelow ? numRanks - 1 - rank : rank;
    const x = MARGIN + (column + 0.5) * slot - wide / 2;
    const y = isBelow ? head + high + 2 * (STRIP + 3) + middle : head;
    const strip = isBelow ? y - STRIP - 3 : y + high + 3;
    return { x, y, strip, isBelow, port: [x + wide / 2, isBelow ? strip - GAP : strip + STRIP + GAP] };
  });
}

// A link bends into the room between the rows, the farther the more.
function bendOf(scene, source, target) {
  const [from, to] = [scene.places[source], scene.places[target]];
  const middle = [(from.port[0] + to.port[0]) / 2, (from.port[1] + to.port[1]) / 2];
  if (from.isBelow !== to.isBelow) return middle;
  const { numRows, high, slot } = scene.place;
  const far = Math.abs(from.port[0] - to.port[0]);
  const isNext = far < slot * 1.5; // the middle stays free for what is written there
  const most = numRows === 1 ? high * 0.9 : scene.place.middle * (isNext ? 0.35 : 1.2);
  const deep = Math.min(14 + far * 0.4, most);
  return [middle[0], middle[1] + (from.isBelow ? -deep : deep)];
}

const between = (start, bend, end, share) => {
  const left = 1 - share;
  return [0, 1].map((axis) => left * left * start[axis] + 2 * left * share * bend[axis] + share * share * end[axis]);
};

function linkOf(view, source, target) {
  const { scene, data } = view;
  const [start, bend, end] = [scene.places[source].port, bendOf(scene, source, target), scene.places[target].port];
  const isBetween = data.devices[source].node !== data.devices[target].node;
  return node("path", { class: isBetween ? "link between" : "link", d: `M${start.join(" ")}Q${bend.join(" ")} ${end.join(" ")}` });
}

function buildScene(view) {
  const svg = view.root.querySelector(".picture");
  svg.setAttribute("height", view.data.room);
  svg.setAttribute("viewBox", `0 0 ${view.width} ${view.data.room}`);
  const legend = buildLegend(view, svg);
  const place = measured(view);
  const scene = { place, places: placesOf(place), boxes: [], strips: [], parcels: [] };
  view.scene = scene;
  scene.links = node("g");
  const boxes = view.data.devices.map((device, rank) => buildDevice(view, device, rank));
  const color = `var(--b2g-${view.data.carried.replace("_", "-")})`;
  const radius = Math.max(4, Math.min(9, place.slot / 5));
  scene.parcels = view.data.devices.map(() => node("circle", { class: "parcel", r: radius, style: `fill:${color}` }));
  const center = place.numRows === 1 ? view.data.room - place.line * 2 : place.head + place.high + STRIP + 3 + place.middle / 2;
  scene.turn = node("text", { class: "turn", x: view.width / 2, y: center });
  scene.message = node("text", { class: "message", x: view.width / 2, y: center + place.line });
  svg.replaceChildren(legend, scene.links, ...boxes, scene.turn, scene.message, ...scene.parcels);
  if (view.data.turns[0].shift !== view.data.turns.at(-1).shift) return; // links of an all-to-all change
  showLinks(view, view.data.turns);
}

function showLinks(view, turns) {
  const { data, scene } = view;
  const seen = new Set(turns.flatMap((turn) => movesOf(turn, data.devices.length, data.num_chunks).map(([source, target]) => `${source} ${target}`)));
  scene.links.replaceChildren(...[...seen].map((pair) => linkOf(view, ...pair.split(" ").map(Number))));
}

// Colours with their names; as many lines as they need.
function buildLegend(view, svg) {
  const letters = view.data.present ? 22 : 15;
  const group = node("g", { class: "legend" });
  svg.replaceChildren(group);
  let [x, y] = [MARGIN, letters];
  const { devices, links, legend, capacity } = view.data;
  const isSpread = devices.some(({ node: machine }) => machine !== devices[0].node);
  const lines = [["full", capacity], ...(isSpread ? [["link", links[0]], ["link between", links[1]]] : [])];
  for (const [meaning, name, kind] of [...legend, ...lines.map(([kind, name]) => ["", name, kind])]) {
    const text = node("text", { x: x + letters + 4, y }, name);
    group.append(text);
    const long = text.getComputedTextLength() + letters * 2.2;
    if (x + long > view.width && x > MARGIN) {
      [x, y] = [MARGIN, y + letters * 1.35];
      text.setAttribute("x", x + letters + 4);
      text.setAttribute("y", y);
    }
    const mark = meaning
      ? node("rect", { class: "part", x, y: y - letters * 0.8, width: letters * 0.9, height: letters * 0.9, style: `fill:var(--b2g-${meaning})` })
      : node("line", { class: kind, x1: x, x2: x + letters, y1: y - letters * 0.35, y2: y - letters * 0.35 });
    group.append(mark);
    x += long;
  }
  view.legendHeight = y + letters * 0.6;
  return group;
}

function buildDevice(view, device, rank) {
  const { scene, data } = view;
  const { wide, high, line, isRoomy } = scene.place;
  const { x, y, strip, isBelow } = scene.places[rank];
  const group = node("g", { class: "device-box" });
  group.dataset.rank = rank;
  group.append(node("rect", { class: "case", x, y, width: wide, height: high }));
  let level = y + high;
  for (const [meaning, share] of device.parts) {
    const part = share * high;
    level -= part;
    group.append(node("rect", { class: "part", x: x + 1, y: level, width: wide - 2, height: part, style: `fill:var(--b2g-${meaning})` }));
  }
  const full = y + high * (1 - data.full);
  group.append(node("line", { class: "full", x1: x, x2: x + wide, y1: full, y2: full }));
  const text = isRoomy ? `${device.label} · ${device.size}` : device.label;
  group.append(node("text", { class: "rank", x: x + wide / 2, y: isBelow ? y + high + line * 0.85 : y - 5 }, text));
  const numCells = data.num_chunks > MOST_CELLS ? 1 : data.num_chunks;
  const cells = Array.from({ length: numCells }, (_, at) => node("rect", { class: "strip", x: x + (wide / numCells) * at, y: strip, width: wide / numCells, height: STRIP }));
  group.append(...cells);
  scene.strips.push(cells);
  scene.boxes.push(group);
  return group;
}

// How much of each chunk has come together; of many chunks, of all of them.
function showHeld(view, numTurns) {
  const { data, scene } = view;
  const held = heldAfter(data, data.devices.length, numTurns);
  const color = `var(--b2g-${data.carried.replace("_", "-")})`;
  for (const [rank, cells] of scene.strips.entries()) {
    const row = held[rank];
    const parts = cells.length === row.length ? row : [row.reduce((sum, each) => sum + each, 0) / row.length];
    for (const [at, cell] of cells.entries()) cell.style.fill = `color-mix(in srgb, ${color} ${(100 * parts[at]) / data.whole}%, var(--b2g-background))`;
  }
}

function showTurn(view) {
  const { data, scene, turn } = view;
  const { turns, words } = data;
  const next = turns[turn];
  scene.turn.textContent = next ? fill(words.turn, { turn: turn + 1, count: turns.length, phase: next.phase }) : words.end;
  scene.message.textContent = next ? fill(words.message, { size: data.message }) : "";
  view.root.querySelector(".sentence").textContent = data.sentences[turn];
  showHeld(view, turn);
  scene.moves = next ? movesOf(next, data.devices.length, data.num_chunks) : [];
  scene.ways = scene.moves.map(([source, target]) => [scene.places[source].port, bendOf(scene, source, target), scene.places[target].port]);
  for (const [at, parcel] of scene.parcels.entries()) parcel.style.display = at < scene.ways.length ? "" : "none";
  if (next && turns[0].shift !== turns.at(-1).shift) showLinks(view, [next]);
}

function showParcels(view, share) {
  const { ways, parcels } = view.scene;
  for (const [at, way] of ways.entries()) {
    const [x, y] = between(...way, share);
    parcels[at].setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  }
}

function showDevice(view) {
  for (const [rank, box] of view.scene.boxes.entries()) box.classList.toggle("chosen", rank === view.chosen);
  view.root.querySelector(".device").textContent = view.data.devices[view.chosen].said;
}
