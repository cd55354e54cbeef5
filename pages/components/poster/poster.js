// A picture as it is drawn, framed: title, sentence, numbers, link and QR code on 16:9.
const [WIDTH, HEIGHT, MARGIN, SIDE, GAP] = [1600, 900, 48, 300, 32];
const [SMALL_SIDE, ROW] = [220, 84]; // of the code and of the numbers where the picture is wide

const LEADING = 1.3;
// A Chinese character may end a line, a mark may not begin one.
const MARKS = "[\\u3001\\u3002\\uff01\\uff09\\uff0c\\uff1a\\uff1b\\uff1f\\u201d\\u2019]*";
const CHINESE = "\\u2e80-\\u9fff\\uff00-\\uffef";
const PIECES = new RegExp(`[${CHINESE}]${MARKS}|\\s+|[^\\s${CHINESE}]+${MARKS}`, "gu");

// Every character of the text stands in one of the lines, but for a space at the end of one.
function wrap(text, { size, weight, family }, width) {
  pen.font = `${weight} ${size}px ${family}`;
  const fits = (line) => pen.measureText(line.trimEnd()).width <= width;
  const lines = [""];
  for (const piece of text.match(PIECES) ?? []) {
    const line = lines.at(-1);
    if (fits(line + piece)) lines[lines.length - 1] += piece;
    else if (fits(piece)) lines.push(piece.trimStart());
    else {
      for (const mark of piece) {
        if (fits(lines.at(-1) + mark)) lines[lines.length - 1] += mark;
        else lines.push(mark);
      }
    }
  }
  return lines.map((line) => line.trimEnd());
}

// As large as fits into so many lines; at the smallest size it takes the lines that it needs.
function fit(text, font, { width, lines, smallest }) {
  let written = wrap(text, font, width);
  while (written.length > lines && font.size > smallest) {
    font = { ...font, size: font.size - 1 };
    written = wrap(text, font, width);
  }
  return { lines: written, font, height: written.length * font.size * LEADING };
}

function block({ lines, font }, x, y, fill, kind) {
  const { size, weight, family } = font;
  pen.font = `${weight} ${size}px ${family}`;
  const rows = lines.map((line, number) => {
    const row = node("tspan", { x, y: y + size * (1 + number * LEADING) });
    row.textContent = line;
    hold(row, pen.measureText(line).width);
    return row;
  });
  return node("text", { class: kind, fill, "font-family": family, "font-size": size, "font-weight": weight }, ...rows);
}

// Each number is a label and a value below it: all below each other at the side, or in a row.
function numbersOf({ numbers, fonts, colors }, { x, y, width, height, isRow }) {
  const step = isRow ? width / 5 : 0; // five at most
  const place = { width: isRow ? step - GAP : width, lines: isRow ? 1 : 2, smallest: 10 };
  const written = (scale) =>
    numbers.map(([label, value]) => [
      [fit(label, { size: 19 * scale, weight: 400, family: fonts.text }, place), colors.muted, "poster-label"],
      [fit(value, { size: 32 * scale, weight: 700, family: fonts.text }, { ...place, lines: 1 }), colors.text, "poster-value"],
    ]);
  const high = (pair) => pair.reduce((sum, [each]) => sum + each.height + 4, 0);
  const room = (pairs) => pairs.map(high).reduce((one, other) => (isRow ? Math.max(one, other) : one + other), 0);
  let scale = 1;
  while (room(written(scale)) > height && scale > 0.4) scale -= 0.05;
  return written(scale).flatMap((pair, number) => {
    const left = x + number * step;
    const [[label, ...looks], [value, ...others]] = pair;
    const made = [block(label, left, y, ...looks), block(value, left, y + label.height + 4, ...others)];
    if (!isRow) y += high(pair);
    return made;
  });
}

// The code is dark on white in every theme: that is what a phone expects.
function codeOf({ path, size }, { x, y, side }) {
  const paper = node("rect", { width: size, height: size, fill: "#ffffff" });
  const modules = node("path", { d: path, fill: "#000000", "shape-rendering": "crispEdges" });
  return node("g", { class: "poster-code", transform: `translate(${x} ${y}) scale(${side / size})` }, paper, modules);
}

// Numbers and code stand at the side of the picture; of a wide one, below it and beside the sentence.
function arranged(data, isWide) {
  const { fonts, numbers } = data;
  const [width, side] = [WIDTH - 2 * MARGIN, isWide ? SMALL_SIDE : SIDE];
  const beside = width - side - GAP;
  const text = (size, weight) => ({ size, weight, family: fonts.text });
  const title = fit(data.title, text(24, 400), { width: isWide ? beside : width, lines: 1, smallest: 16 });
  const headline = fit(data.headline, text(isWide ? 48 : 40, 700), { width: isWide ? beside : width, lines: isWide ? 3 : 2, smallest: 22 });
  const link = fit(data.link, { size: 15, weight: 400, family: fonts.code }, { width: isWide ? width : beside, lines: 5, smallest: 9 });
  const written = title.height + (data.headline ? headline.height : 0);
  const top = MARGIN + Math.max(written, isWide && data.code ? side : 0) + GAP / 2;
  const row = isWide && numbers.length ? ROW : 0;
  const height = HEIGHT - MARGIN - top - link.height - GAP / 2 - row;
  const x = MARGIN + beside + GAP;
  return {
    title, headline, link,
    picture: { x: MARGIN, y: top, width: isWide ? width : beside, height },
    code: { x, y: isWide ? MARGIN : HEIGHT - MARGIN - side, side },
    numbers: isWide
      ? { x: MARGIN, y: top + height + GAP / 4, width, height: ROW, isRow: true }
      : { x, y: top, width: side, height: HEIGHT - MARGIN - side - GAP / 2 - top, isRow: false },
  };
}

function compose(data, { layer, width: wide, height: high }) {
  const { colors } = data;
  const scale = ({ picture: { width, height } }) => Math.min(width / wide, height / high);
  const [tall, flat] = [arranged(data, false), arranged(data, true)];
  const place = scale(flat) > scale(tall) ? flat : tall;
  const { title, headline, link } = place;
  return node(
    "svg",
    { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` },
    node("rect", { width: WIDTH, height: HEIGHT, fill: colors.background }),
    block(title, MARGIN, MARGIN - 8, colors.muted, "poster-title"),
    ...(data.headline ? [block(headline, MARGIN, MARGIN + title.height - 4, colors.text, "poster-headline")] : []),
    node("svg", { class: "poster-picture", ...place.picture, viewBox: `0 0 ${wide} ${high}` }, layer),
    ...numbersOf(data, place.numbers),
    block(link, MARGIN, HEIGHT - MARGIN - link.height, colors.muted, "poster-link"),
    ...(data.code ? [codeOf(data.code, place.code)] : []),
  );
}

// Our own parts keep what they draw to themselves, each below a root of its own.
function found(key, selector) {
  const place = document.querySelector(`.st-key-${key}`);
  const roots = [place, ...[...(place?.querySelectorAll("*") ?? [])].map((each) => each.shadowRoot)].filter(Boolean);
  return roots.flatMap((root) => [...root.querySelectorAll(selector)]);
}

// What the picture is made of: what a part of our own has marked, or else a chart as Plotly has drawn it.
function piecesOf(key) {
  const marked = found(key, "[data-poster]");
  return (marked.length ? marked : found(key, ".js-plotly-plot")).filter((each) => each.checkVisibility() && isDrawn(each));
}

// What a part says instead of Python where it alone knows the newest; null while that is nothing.
function toldOf(data) {
  const [part] = found(data.chart, "[data-poster-says]");
  return part ? part.says(data) : {};
}

const isDrawn = (piece) => !piece.matches(".js-plotly-plot") || piece._fullLayout;

const isOn = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// All pieces where they stand beside each other; what stood between them and stays behind leaves no gap,
// and what lay on another one comes below it.
function pictureOf(pieces) {
  const placed = pieces.map((piece) => ({ piece, place: placeOf(piece) })).sort((one, other) => one.place.top - other.place.top);
  const left = Math.min(...placed.map(({ place }) => place.left));
  const right = Math.max(...placed.map(({ place }) => place.right));
  let [bottom, up, height] = [placed[0].place.top - GAP, placed[0].place.top, 0];
  const layer = node("g");
  for (const [number, { piece, place }] of placed.entries()) {
    const isOver = placed.slice(0, number).some((each) => isOn(each.place, place));
    up += isOver ? place.top - bottom : Math.max(place.top - bottom - GAP, 0);
    bottom = isOver ? place.bottom : Math.max(bottom, place.bottom);
    height = Math.max(height, place.bottom - up);
    layer.append(node("g", { transform: `translate(${-left} ${-up})` }, ...seenOf(piece)));
  }
  return { layer, width: right - left, height };
}

async function savePoster(data, kind) {
  const poster = compose({ ...data, ...toldOf(data) }, pictureOf(piecesOf(data.chart)));
  // Without an answer of the server other fonts do: every line keeps its length.
  poster.prepend(node("style", {}, await fontsFor(asText(poster)).catch(() => "")));
  return offer(poster, kind, `${data.file_name}-poster`);
}

const ASKED = new WeakMap(); // the button's place -> the kind of poster that waits for its code

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const status = parentElement.querySelector("span");
  const menu = parentElement.querySelector("details");
  Object.assign(menu, { className: data.small ? "small" : "", hidden: false }); // only now does it do something
  for (const each of menu.children) each.textContent = data.words[each.dataset.kind];
  for (const button of menu.querySelectorAll("button")) {
    const kind = button.dataset.kind;
    button.onclick = () => {
      const isReady = piecesOf(data.chart).length && toldOf(data);
      status.textContent = isReady ? "" : data.words.waiting;
      if (isReady && !data.code_waits) return savePoster(data, kind);
      if (isReady) ASKED.set(parentElement, kind);
      if (isReady) setTriggerValue("asked", kind);
    };
  }
  const kind = ASKED.get(parentElement);
  if (!kind || data.code_waits) return;
  ASKED.delete(parentElement);
  savePoster(data, kind);
}
