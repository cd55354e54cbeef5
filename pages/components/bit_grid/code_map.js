// All codes of a format at once: cells with their numbers up to 8 bits, a picture up to 16.

const CELLS_BITS = 8;
const PICTURE_BITS = 16;
const PICTURE_PX = 256;
const PALE = 60; // alpha of the smallest normal numbers, of 255
const FLOAT_KINDS = ["zero", "subnormal", "normal", "infinity", "nan"];

// 0 for the smallest numbers of a format, 1 for the largest: core/dtypes/facts/shade.py.
function magnitudeShare(format, code) {
  if (format.kind === "float") {
    const { magnitudeBits, maxCode } = layout(format);
    const step = 2 ** format.mantissa_bits;
    return Math.min(Math.floor((code % 2 ** magnitudeBits) / step) / Math.floor(Number(maxCode) / step), 1);
  }
  return Math.abs(decode(format, BigInt(code))) / largestOf(format);
}

function largestOf({ kind, bits: width, signed, fraction_bits: fraction, values }) {
  if (kind === "codebook") return Math.max(...values.map(Math.abs));
  return (signed ? 2 ** (width - 1) : 2 ** width - 1) / 2 ** fraction;
}

function buildMap(view) {
  const { map, format } = view.data;
  const place = view.root.querySelector(".map");
  place.hidden = !map || format.bits > PICTURE_BITS;
  view.mapCells = view.picture = null;
  place.replaceChildren();
  view.root.querySelector("dl").toggleAttribute("data-poster", place.hidden); // a poster is of the codes or of one
  view.root.classList.toggle("with-map", !place.hidden);
  if (place.hidden) return;
  if (format.bits <= CELLS_BITS) buildCells(view, place);
  else buildPicture(view, place);
  const list = legend(view);
  if (view.picture) list.append(view.picture.said);
  place.append(list);
}

// The kinds that the format has, each as its cells look. In a picture they are filled, and the
// picture takes its colours from them: now, when the theme's colours come late, and when they change.
function legend(view) {
  const { picture, data: { format, words } } = view;
  const list = element("div", picture ? "legend filled" : "legend");
  if (picture) list.addEventListener("transitionend", () => paintPicture(view));
  list.style.setProperty("--pale", `${(PALE / 255) * 100}%`);
  const kinds = format.kind === "float" ? FLOAT_KINDS.filter((kind) => hasKind(format, kind)) : [];
  for (const kind of kinds) {
    const entry = element("span");
    const sample = element("i", "cell");
    sample.dataset.kind = kind;
    entry.append(sample, words[`kind_${kind}`]);
    list.append(entry);
  }
  list.append(element("span", "scale", words.map_scale));
  return list;
}

function hasKind(format, kind) {
  const { infinityCode, nanCode } = layout(format);
  const has = { infinity: infinityCode !== null, nan: nanCode !== null, zero: format.zero };
  return kind === "subnormal" ? presets(format, 0n).min_subnormal !== null : has[kind] ?? true;
}

function buildCells(view, place) {
  const { format, words } = view.data;
  const columns = 1 << Math.ceil(format.bits / 2);
  const table = element("div", "cells");
  table.setAttribute("role", "group");
  table.setAttribute("aria-label", fill(words.map, { format: format.name, count: 1 << format.bits }));
  table.style.setProperty("--columns", columns);
  table.toggleAttribute("data-few", format.bits <= 6);
  view.mapCells = Array.from({ length: 1 << format.bits }, (_, number) => codeCell(view, BigInt(number)));
  table.append(...view.mapCells);
  table.addEventListener("keydown", (event) => moveInCells(view, event, columns));
  place.append(table);
}

function codeCell(view, code) {
  const { format } = view.data;
  const kind = kindOf(format, code);
  const cell = element("button", "cell", cellText(format, code));
  cell.type = "button";
  cell.dataset.kind = kind;
  cell.style.setProperty("--strong", magnitudeShare(format, Number(code)));
  cell.tabIndex = -1;
  cell.title = `${hexCode(format, code)} = ${shortText(exactOf(format, code), format)}`;
  cell.setAttribute("aria-label", `${cell.title}, ${view.data.words[`kind_${kind}`]}`);
  cell.onclick = () => view.choose(code);
  return cell;
}

// At most six marks: 448, 0.0195, 1.2e-3.
function cellText(format, code) {
  const exact = exactOf(format, code);
  const text = shortText(exact, format);
  if (exact.special || text.length <= 6) return text;
  const number = toNumber(exact);
  const written = Math.abs(number) >= 0.01 && Math.abs(number) < 1e4 ? String(Number(number.toPrecision(3))) : number.toExponential(1);
  return written.replace("e+", "e").replace(/^(-?)0\./, "$1.");
}

function moveInCells(view, event, columns) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
  const from = view.mapCells.indexOf(event.target);
  const target = view.mapCells[from + step];
  if (!step || from < 0 || !target) return;
  event.preventDefault();
  target.focus();
  view.choose(BigInt(from + step));
}

function buildPicture(view, place) {
  const { format, words } = view.data;
  const canvas = element("canvas");
  canvas.width = PICTURE_PX;
  canvas.height = PICTURE_PX;
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", fill(words.map, { format: format.name, count: grouped(1n << BigInt(format.bits)) }));
  const frame = element("div", "picture");
  const mark = element("span", "mark");
  const said = element("output", "under");
  frame.append(canvas, mark);
  place.append(element("p", "", words.map_axes), frame);
  view.picture = { canvas, mark, said };
  listenToPicture(view);
  requestAnimationFrame(() => paintPicture(view));
}

// Row: the upper byte; column: the lower byte.
function listenToPicture(view) {
  const { canvas, said } = view.picture;
  const { format } = view.data;
  const codeAtPointer = (event) => {
    const box = canvas.getBoundingClientRect();
    const at = (part, whole) => Math.min(Math.max(Math.floor((part / whole) * PICTURE_PX), 0), PICTURE_PX - 1);
    const number = at(event.clientY - box.top, box.height) * PICTURE_PX + at(event.clientX - box.left, box.width);
    return BigInt(Math.min(number, 2 ** format.bits - 1));
  };
  canvas.onclick = (event) => view.choose(codeAtPointer(event));
  canvas.onpointermove = (event) => {
    const code = codeAtPointer(event);
    said.textContent = `${hexCode(format, code)} = ${shortText(exactOf(format, code), format)}`;
  };
  canvas.onkeydown = (event) => {
    const step = { ArrowLeft: -1n, ArrowRight: 1n, ArrowUp: -256n, ArrowDown: 256n }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const code = view.code + step;
    if (code >= 0n && code >> BigInt(format.bits) === 0n) view.choose(code);
  };
}

// Kinds by comparing whole numbers: 65,536 exact decodings would take half a second.
function kindsOfPicture(format) {
  const { magnitudeBits, maxCode, infinityCode, hidden } = layout(format);
  const [first, last, most] = [Number(firstMagnitude(format)), Number(maxCode), Number(infinityCode ?? -1n)];
  return (code) => {
    const magnitude = code & (2 ** magnitudeBits - 1);
    if (magnitude === most) return "infinity";
    if (magnitude > last || (code !== magnitude && !magnitude && !format.negative_zero)) return "nan";
    if (format.zero && magnitude < first) return "zero";
    return format.zero && magnitude < Number(hidden) ? "subnormal" : "normal";
  };
}

function paintPicture(view) {
  const { canvas } = view.picture ?? {};
  if (!canvas?.isConnected) return;
  const { format } = view.data;
  const kind = kindsOfPicture(format);
  const samples = [...view.root.querySelectorAll(".legend .cell")];
  const colors = Object.fromEntries(samples.map((sample) => [sample.dataset.kind, colorOf(sample)]));
  const pen = canvas.getContext("2d");
  const picture = pen.createImageData(PICTURE_PX, PICTURE_PX);
  for (let code = 0; code < 2 ** format.bits; code++) {
    const name = kind(code);
    const isGraded = colors[name] === undefined || name === "normal";
    const strong = isGraded ? PALE + (255 - PALE) * magnitudeShare(format, code) : 255;
    picture.data.set([...(colors[name] ?? colors.normal), strong], code * 4);
  }
  pen.putImageData(picture, 0, 0);
}

function colorOf(sample) {
  return getComputedStyle(sample).outlineColor.match(/[\d.]+/g).map(Number).slice(0, 3);
}

function showMap(view) {
  if (view.mapCells) {
    const now = Number(view.code);
    view.mapCells.forEach((cell, number) => {
      cell.classList.toggle("here", number === now);
      cell.tabIndex = number === now ? 0 : -1;
    });
  }
  if (!view.picture) return;
  const [row, column] = [Number(view.code >> 8n), Number(view.code & 255n)];
  view.picture.mark.style.top = `${((row + 0.5) / PICTURE_PX) * 100}%`;
  view.picture.mark.style.left = `${((column + 0.5) / PICTURE_PX) * 100}%`;
}
