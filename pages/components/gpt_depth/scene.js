// One model's picture: tokens above, a row for the embedding and each block below, bars at the side.

const LETTER = 0.62; // of the font's size
const GAP = 6; // pixels between two rows without lines
const FAINT = 0.004; // of a weight whose line nobody would see

// Signs for what cannot be seen lie below U+2E80, Chinese above.
const widthOf = (text) => [...text].reduce((sum, each) => sum + (each >= "\u2e80" ? 1.7 : 1), 0);

// Where everything stands, from the room there is.
function measured(panel, view, width) {
  const { data } = view;
  const letters = data.present ? 22 : 15;
  const [num_rows, num_tokens] = [panel.names.length, panel.tokens.length];
  const gutter = Math.max(...panel.names.map((name) => widthOf(name)), ...panel.attention_names.map((name) => widthOf(name))) * letters * 0.52 + 10;
  const wanted = Math.min(Math.max(width * 0.22, letters * 9), letters * 15);
  // On a phone the tokens need the room of the bars; the sentence tells the likeliest.
  const bars = width - gutter - wanted > 8 * letters ? wanted : 0;
  const room = Math.max(width - gutter - bars - 1.2 * letters, 2 * letters);
  const longest = Math.max(1, ...panel.tokens.map((id) => Math.min(widthOf(data.signs[id]), 6)));
  const least = longest * letters * LETTER + (data.present ? 5 : 3);
  const num_shown = Math.max(1, Math.min(num_tokens, Math.floor(room / least)));
  const cell = Math.min(room / num_shown, Math.max(least, 3.2 * letters));
  const head = letters + 12;
  const left = data.room - head - GAP;
  const high = Math.min(letters * 2.2, Math.max(letters + 5, (left * 0.52) / num_rows));
  const gap = Math.max(left - num_rows * high - (num_rows - 2) * GAP, 2 * letters);
  return { letters, gutter, bars, num_shown, cell, head, high, gap, width, height: data.room };
}

// The top of a row; the lines stand above the chosen layer's.
function topOf(place, row, layer) {
  return place.head + GAP + row * (place.high + GAP) + (row > layer ? place.gap - GAP : 0);
}

function buildPanel(panel, view, width) {
  const place = measured(panel, view, width);
  const last = panel.tokens.length - place.num_shown;
  const first = Math.max(0, Math.min(last, view.at < last ? view.at - Math.floor(place.num_shown / 2) : last));
  const svg = node("svg", { class: "picture", tabindex: 0, role: "application", "aria-label": panel.label, height: place.height, viewBox: `0 0 ${width} ${place.height}` });
  const scene = { panel, place, first, svg, tokens: new Map(), cells: new Map() };
  const lines = node("g", { class: "lines" });
  const bars = node("g", { class: "bars" });
  svg.append(lines, ...buildTokens(scene, view), ...buildRows(scene, view), bars);
  return Object.assign(scene, { lines, bars });
}

const leftOf = ({ place, first }, token) => place.gutter + (token - first) * place.cell;
const middleX = (scene, token) => leftOf(scene, token) + scene.place.cell / 2;
const shownTokens = ({ first, place }) => Array.from({ length: place.num_shown }, (_, number) => first + number);

// A sign that is wider than its cell is cut, one that is a little wider drawn smaller.
function signAt(view, id, x, y, wide, letters) {
  const whole = [...view.data.signs[id]];
  const fits = Math.max(1, Math.floor(wide / (letters * LETTER)));
  const text = whole.length > fits + 1 ? `${whole.slice(0, fits).join("")}…` : whole.join("");
  const small = widthOf(text) * letters * LETTER > wide;
  return node("text", { class: small ? "sign small" : "sign", x, y }, text);
}

function buildTokens(scene, view) {
  const { place, panel } = scene;
  return shownTokens(scene).map((token) => {
    const group = node("g", { class: "token" });
    group.append(node("rect", { x: leftOf(scene, token), y: 1, width: place.cell, height: place.head }));
    group.append(signAt(view, panel.tokens[token], middleX(scene, token), place.head / 2 + place.letters * 0.38, place.cell, place.letters));
    scene.tokens.set(token, group);
    return group;
  });
}

function buildRows(scene, view) {
  const { place, panel } = scene;
  return panel.names.flatMap((name, row) => {
    const top = topOf(place, row, view.layer);
    const text = node("text", { class: "name", x: place.gutter - 8, y: top + place.high / 2 + place.letters * 0.36 }, name);
    return [text, ...shownTokens(scene).map((token) => buildCell(scene, view, row, token, top))];
  });
}

function buildCell(scene, view, row, token, top) {
  const { place, panel } = scene;
  const [id, chance] = [panel.says[row][token][0], panel.chances[row][token][0] / 10000];
  const group = node("g", { class: chance > 0.6 ? "cell sure" : "cell", style: `--chance:${chance}` });
  group.append(node("rect", { x: leftOf(scene, token), y: top, width: place.cell, height: place.high }));
  group.append(signAt(view, id, middleX(scene, token), top + place.high / 2 + place.letters * 0.36, place.cell, place.letters));
  if (panel.tokens[token + 1] === id) {
    const [x, y] = [leftOf(scene, token), top + place.high - 3];
    group.append(node("line", { x1: x + 3, x2: x + place.cell - 3, y1: y, y2: y }));
  }
  scene.cells.set(`${row} ${token}`, group);
  return group;
}

// What changes with the token pointed at: lines, bars, frames.
function showPoint(scene, view, token, row) {
  const { place, panel } = scene;
  const weights = panel.attention[view.layer][token];
  const [upper, lower] = [topOf(place, view.layer, view.layer) + place.high, topOf(place, view.layer + 1, view.layer)];
  const middle = (upper + lower) / 2;
  const made = [node("text", { class: "layer", x: place.gutter - 8, y: middle + place.letters * 0.36 }, panel.attention_names[view.layer])];
  for (const [seen, weight] of weights.entries()) {
    if (weight / 1000 < FAINT || seen < scene.first) continue;
    const [x, to] = [middleX(scene, token), middleX(scene, seen)];
    const d = `M${x} ${lower}C${x} ${middle} ${to} ${middle} ${to} ${upper}`;
    made.push(node("path", { class: "look", d, "stroke-width": 1 + weight / 90, opacity: 0.25 + (0.7 * weight) / 1000 }));
  }
  scene.lines.replaceChildren(...made);
  for (const [each, group] of scene.tokens) {
    group.style.setProperty("--weight", (weights[each] ?? 0) / 1000);
    group.classList.toggle("chosen", each === token);
  }
  for (const [key, group] of scene.cells) group.classList.toggle("chosen", key === `${row} ${token}`);
  showBars(scene, view, token, row);
}

function showBars(scene, view, token, row) {
  const { place, panel } = scene;
  const { letters } = place;
  if (!place.bars) return scene.bars.replaceChildren();
  const left = place.width - place.bars;
  const title = row === panel.names.length - 1 ? view.data.words.bars : panel.names[row];
  const made = [node("text", { class: "title", x: left, y: letters + 2 }, title)];
  const ids = panel.says[row][token];
  const step = Math.min((place.height - letters - 14) / ids.length, letters * 2.2);
  const [signs, shares] = [letters * 2, letters * 3.4];
  for (const [number, id] of ids.entries()) {
    const chance = panel.chances[row][token][number] / 10000;
    const y = letters + 12 + number * step;
    const base = y + step / 2 + letters * 0.36;
    made.push(signAt(view, id, left + signs / 2, base, signs, letters));
    const whole = place.bars - signs - shares - 6;
    made.push(node("rect", { class: "bar", x: left + signs + 4, y: y + 3, width: Math.max(whole * chance, 1), height: step - 6, rx: 2 }));
    made.push(node("text", { class: "share", x: left + signs + 10 + whole * chance, y: base }, view.percent(chance)));
  }
  scene.bars.replaceChildren(...made);
}
