// The graph as SVG, built once for a layout: what changes with time is set by `timeline.js`.

function buildScene(view) {
  const { data, root } = view;
  const world = root.querySelector(".world");
  view.boxes = new Map(data.boxes.map((row) => [row.id, buildBox(row, data)]));
  view.links = new Map(data.links.map((row) => [row.id, buildLink(row, data)]));
  world.replaceChildren(...[...view.links.values()].map((link) => link.group), ...[...view.boxes.values()].map((box) => box.group));
}

// On a projector a padlock stands above its box, whose label may then be wider.
function buildBox(row, { present, line: pitch, edge }) {
  const [x, y, width, height] = row.place;
  const larger = present ? 1.5 : 1;
  const group = node("g", { id: `box-${row.id}`, role: "img", transform: `translate(${x} ${y})` });
  group.dataset.box = row.id;
  group.append(node("rect", { width, height, rx: row.kind === "leaf" ? height / 2.6 : 6 }));
  const line = (number, name) => {
    const made = node("text", { class: name, x: width / 2, y: edge / 2 + (number + 0.75) * pitch, "text-anchor": "middle" });
    group.append(made);
    return made;
  };
  const [label, value, gradient] = ["label", "value", "gradient"].map((name, number) => line(number, name));
  const lock = lockAt(width - 15 * larger, present ? -26 : 5, larger);
  const order = node("text", { class: "order", x: 4, y: -4 });
  const finding = node("text", { class: "finding", x: width / 2, y: height + 15 * larger, "text-anchor": "middle" });
  group.append(lock, order, finding);
  return { group, label, value, gradient, lock, order, finding, shown: "" };
}

function buildLink(row, { line: pitch }) {
  const { points } = row;
  const group = node("g", { class: "link" });
  group.append(node("path", { class: "way", d: curveThrough(points) }));
  group.append(headAt(points.at(-1), 1), headAt(points[0], -1));
  const [x, y] = middleOf(points);
  const operation = node("text", { class: "operation", x, y: y + 0.9 * pitch, "text-anchor": "middle", "paint-order": "stroke" });
  const contribution = node("text", { class: "contribution", x, y: y - 5, "text-anchor": "middle", "paint-order": "stroke" });
  group.append(operation, contribution);
  if (row.scissors) group.append(scissorsAt([x, y]));
  return { group, operation, contribution, shown: "" };
}

// The step curve of saved bytes, and the slider below it.
function buildCurve(view) {
  const { events, words, most_saved } = view.data;
  const curve = view.root.querySelector(".curve");
  const count = Math.max(events.length, 1);
  curve.setAttribute("viewBox", `0 0 ${count} 1.05`);
  curve.setAttribute("aria-label", fill(words.curve, { size: most_saved }));
  const steps = events.map(({ level }, at) => `V${1.05 - level}H${at + 1}`).join("");
  curve.querySelector("path").setAttribute("d", `M0 1.05${steps}V1.05z`);
  const time = view.root.querySelector(".time");
  [time.min, time.max, time.step] = [-1, events.length - 1, 1];
  time.setAttribute("aria-label", words.timeline);
}
