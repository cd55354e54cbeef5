// A chart as Plotly has drawn it, framed: title, sentence, numbers, link and QR code on 16:9.
const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, MARGIN, SIDE, GAP] = [1600, 900, 48, 300, 32];
const LEADING = 1.3;
const LETTERS = ["font-family", "font-size", "font-weight", "font-style", "fill", "fill-opacity", "text-anchor"];
// A Chinese character may end a line, a mark after it may not begin one.
const PIECES = /[\u2e80-\u9fff\uff00-\uffef][\u3001\u3002\uff01\uff09\uff0c\uff1a\uff1b\uff1f\u201d\u2019]*|\s+|[^\s\u2e80-\u9fff\uff00-\uffef]+/gu;
const pen = document.createElement("canvas").getContext("2d");

function node(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A file finds other fonts elsewhere: there too a line is as long as it was laid out.
function hold(row, length) {
  if (!(length > 0)) return;
  row.setAttribute("textLength", length.toFixed(2));
  row.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

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

// Plotly stacks several pictures; what only a mouse needs stays behind.
export function layersOf(chart) {
  const layers = [...chart.querySelectorAll("svg.main-svg")].filter((each) => !each.parentElement.closest("svg"));
  return layers.map((layer) => {
    const copy = layer.cloneNode(true);
    const originals = layer.querySelectorAll("text, tspan");
    copy.querySelectorAll("text, tspan").forEach((letter, number) => {
      const style = getComputedStyle(originals[number]);
      for (const name of LETTERS) letter.style.setProperty(name, style.getPropertyValue(name));
      if (!letter.childElementCount && letter.textContent) hold(letter, originals[number].getComputedTextLength());
    });
    copy.querySelectorAll(".draglayer, .hoverlayer, .zoomlayer").forEach((each) => each.remove());
    for (const each of copy.querySelectorAll("[data-unformatted]")) each.removeAttribute("data-unformatted");
    return node("g", {}, ...copy.childNodes);
  });
}

function numbersOf({ numbers, fonts, colors }, x, y, height) {
  const place = { width: SIDE, lines: 2, smallest: 10 };
  const small = (scale) => ({ size: 19 * scale, weight: 400, family: fonts.text });
  const large = (scale) => ({ size: 32 * scale, weight: 700, family: fonts.text });
  const written = (scale) =>
    numbers.flatMap(([label, value]) => [
      [fit(label, small(scale), place), colors.muted, "poster-label"],
      [fit(value, large(scale), { ...place, lines: 1 }), colors.text, "poster-value"],
    ]);
  const room = (blocks) => blocks.reduce((sum, [each]) => sum + each.height + 4, 0);
  let scale = 1;
  while (room(written(scale)) > height && scale > 0.4) scale -= 0.05;
  return written(scale).map(([each, fill, kind]) => {
    const made = block(each, x, y, fill, kind);
    y += each.height + 4;
    return made;
  });
}

// The code is dark on white in every theme: that is what a phone expects.
function codeOf({ path, size }, x, y) {
  const scale = SIDE / size;
  const paper = node("rect", { width: size, height: size, fill: "#ffffff" });
  const modules = node("path", { d: path, fill: "#000000", "shape-rendering": "crispEdges" });
  return node("g", { class: "poster-code", transform: `translate(${x} ${y}) scale(${scale})` }, paper, modules);
}

export function compose(data, layers, drawn) {
  const { fonts, colors } = data;
  const [left, width] = [WIDTH - 2 * MARGIN - SIDE - GAP, WIDTH - 2 * MARGIN];
  const text = (size, weight) => ({ size, weight, family: fonts.text });
  const title = fit(data.title, text(24, 400), { width, lines: 1, smallest: 16 });
  const headline = fit(data.headline, text(40, 700), { width, lines: 2, smallest: 22 });
  const link = fit(data.link, { size: 15, weight: 400, family: fonts.code }, { width: left, lines: 5, smallest: 9 });
  const top = MARGIN + title.height + (data.headline ? headline.height : 0) + GAP / 2;
  const room = HEIGHT - MARGIN - top - link.height - GAP / 2;
  const side = MARGIN + left + GAP;
  return node(
    "svg",
    { xmlns: SVG, width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` },
    node("rect", { width: WIDTH, height: HEIGHT, fill: colors.background }),
    block(title, MARGIN, MARGIN - 8, colors.muted, "poster-title"),
    ...(data.headline ? [block(headline, MARGIN, MARGIN + title.height - 4, colors.text, "poster-headline")] : []),
    node(
      "svg",
      { class: "poster-picture", x: MARGIN, y: top, width: left, height: room, viewBox: `0 0 ${drawn.width} ${drawn.height}` },
      ...layers,
    ),
    ...numbersOf(data, side, top, HEIGHT - MARGIN - SIDE - GAP / 2 - top),
    block(link, MARGIN, HEIGHT - MARGIN - link.height, colors.muted, "poster-link"),
    ...(data.code ? [codeOf(data.code, side, HEIGHT - MARGIN - SIDE)] : []),
  );
}

async function pixels(svg) {
  const image = new Image();
  const address = URL.createObjectURL(svg);
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [WIDTH * 2, HEIGHT * 2];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export default function ({ data: [data], parentElement }) {
  const status = parentElement.querySelector("span");
  for (const button of parentElement.querySelectorAll("button")) {
    const kind = button.dataset.kind;
    button.textContent = data.words[kind];
    button.hidden = false; // only now does it do something
    button.onclick = async () => {
      const chart = document.querySelector(`.st-key-${data.chart} .js-plotly-plot`);
      const drawn = chart?._fullLayout;
      status.textContent = drawn ? "" : data.words.waiting;
      if (!drawn) return;
      const poster = new XMLSerializer().serializeToString(compose(data, layersOf(chart), drawn));
      // Plotly may write the page's own address into a reference; inside a file it is the file's.
      const text = poster.replace(/url\((?:&quot;|["'])?[^#()"'&]*#([^()"'&]+)(?:&quot;|["'])?\)/g, "url(#$1)");
      const svg = new Blob([text], { type: "image/svg+xml" });
      offer(kind === "svg" ? svg : await pixels(svg), `${data.file_name}-poster.${kind}`);
    };
  }
}
