// What is seen of an element, as SVG: boxes, letters, drawings and pixels, each where it stands.

const pen = document.createElement("canvas").getContext("2d");
const SIDES = ["Top", "Right", "Bottom", "Left"];
const DASHES = { dashed: 3, dotted: 1 }; // lengths of a border's dash, in its widths
const COLOR = /rgba?\([^)]*\)|transparent/g;
const EDGE = 4; // pixels around a drawing: a box of letters and lines knows nothing of their width
const CLEAR = /^(transparent|rgba\(.*, 0\))$/;

let numGradients = 0;

const rectOf = ({ left, top, width, height }) => ({ x: left, y: top, width, height });
const isHidden = (element, style) => style.display === "none" || style.visibility === "hidden" || element.matches(".modebar-container");

// `room` is what the elements around leave to be seen.
function seenOf(element, room = null) {
  const style = getComputedStyle(element);
  if (isHidden(element, style)) return [];
  if (element instanceof SVGSVGElement) return [drawingOf(element)];
  if (element instanceof HTMLCanvasElement) return [pixelsOf(element, style)];
  const inside = style.overflowY === "visible" ? room : element.getBoundingClientRect();
  const children = [...element.childNodes].flatMap((child) => {
    if (child.nodeType === Node.TEXT_NODE) return lettersOf(child, style, inside);
    return child.nodeType === Node.ELEMENT_NODE ? seenOf(child, inside) : [];
  });
  const made = [...[...element.getClientRects()].flatMap((rect) => boxesOf(rect, style)), ...children];
  return style.opacity === "1" || !made.length ? made : [node("g", { opacity: style.opacity }, ...made)];
}

// Of a drawing only where something is drawn counts, as far as it is in sight, or as its part asks for
// with `data-frame`: in its own coordinates.
function frameOf(picture) {
  const [x, y, width, height] = picture.dataset.frame?.split(" ").map(Number) ?? boxOf(picture);
  const drawn = picture.getBBox();
  const [left, top] = [Math.max(x, drawn.x - EDGE), Math.max(y, drawn.y - EDGE)];
  const [right, bottom] = [Math.min(x + width, drawn.x + drawn.width + EDGE), Math.min(y + height, drawn.y + drawn.height + EDGE)];
  return [left, top, Math.max(right - left, 1), Math.max(bottom - top, 1)];
}

function placeOf(element) {
  const rect = element.getBoundingClientRect();
  if (!(element instanceof SVGSVGElement)) return rect;
  const [left, top, width] = boxOf(element);
  const [x, y, wide, high] = frameOf(element);
  const scale = rect.width / width;
  return new DOMRect(rect.left + (x - left) * scale, rect.top + (y - top) * scale, wide * scale, high * scale);
}

function drawingOf(picture) {
  return node("svg", { ...rectOf(placeOf(picture)), viewBox: frameOf(picture).join(" ") }, ...copied(picture).childNodes);
}

function pixelsOf(canvas, style) {
  const image = node("image", { ...rectOf(canvas.getBoundingClientRect()), href: canvas.toDataURL(), preserveAspectRatio: "none" });
  image.style.setProperty("image-rendering", style.imageRendering);
  return image;
}

// Two colours from left to right; one that is clear is the other one, unseen.
function gradientOf({ backgroundImage }) {
  const colors = backgroundImage.startsWith("linear-gradient") ? plainColor(backgroundImage).match(COLOR) ?? [] : [];
  if (colors.length !== 2) return null;
  const stops = colors.map((color, offset) => {
    const look = CLEAR.test(color) ? { "stop-color": colors[1 - offset], "stop-opacity": 0 } : { "stop-color": color };
    return node("stop", { offset, ...look });
  });
  return node("linearGradient", { id: `gradient-${(numGradients += 1)}` }, ...stops);
}

function bordersOf(style) {
  return SIDES.map((side) => ({
    wide: style[`border${side}Style`] === "none" ? 0 : parseFloat(style[`border${side}Width`]),
    color: plainColor(style[`border${side}Color`]),
    dash: DASHES[style[`border${side}Style`]],
  }));
}

// A background, with its border if that is the same all around; else each side is a line of its own.
function boxesOf(rect, style) {
  const [gradient, borders] = [gradientOf(style), bordersOf(style)];
  const color = CLEAR.test(style.backgroundColor) ? "none" : plainColor(style.backgroundColor);
  const fill = gradient ? `url(#${gradient.id})` : color;
  const isEven = borders.every(({ wide, color }) => wide === borders[0].wide && color === borders[0].color);
  const stroke = isEven && borders[0].wide ? strokeOf(borders[0]) : {};
  const inset = isEven ? borders[0].wide / 2 : 0;
  const [width, height] = [rect.width - 2 * inset, rect.height - 2 * inset];
  const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, height / 2);
  const box = node("rect", { x: rect.x + inset, y: rect.y + inset, width, height, rx: radius, fill, ...stroke });
  const lines = isEven ? [] : borders.flatMap((border, side) => (border.wide ? [edgeOf(rect, border, side)] : []));
  return [...(gradient ? [gradient] : []), ...(fill !== "none" || stroke.stroke ? [box] : []), ...lines];
}

function strokeOf({ wide, color, dash }) {
  return { stroke: color, "stroke-width": wide, ...(dash ? { "stroke-dasharray": `${dash * wide} ${dash * wide}` } : {}) };
}

function edgeOf({ left, top, right, bottom }, border, side) {
  const half = border.wide / 2;
  const [x1, y1, x2, y2] = [
    [left, top + half, right, top + half],
    [right - half, top, right - half, bottom],
    [left, bottom - half, right, bottom - half],
    [left + half, top, left + half, bottom],
  ][side];
  return node("line", { x1, y1, x2, y2, ...strokeOf(border) });
}

// A text as the page has broken it into lines; one that stands outside of the room is not seen, a longer one pressed into it.
function lettersOf(text, style, room) {
  const range = document.createRange();
  const lines = [];
  let at = 0;
  for (const sign of text.data) {
    range.setStart(text, at);
    at += sign.length;
    range.setEnd(text, at);
    const rect = [...range.getClientRects()].findLast(({ width }) => width > 0);
    if (!rect) continue;
    const line = lines.at(-1);
    if (line && Math.abs(line.top - rect.top) < 1) Object.assign(line, { text: line.text + sign, right: rect.right });
    else lines.push({ text: sign, left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom });
  }
  const isSeen = (line) => line.text.trim() && (!room || (line.top >= room.top - 1 && line.bottom <= room.bottom + 1));
  const kept = ({ left, right, ...line }) => ({ ...line, left: Math.max(left, room?.left ?? left), right: Math.min(right, room?.right ?? right) });
  return lines.filter(isSeen).map((line) => lineOf(kept(line), style));
}

function lineOf({ text, left, right, top, bottom }, style) {
  const { fontStyle, fontWeight, fontSize, fontFamily, color } = style;
  pen.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = pen.measureText(text);
  const y = (top + bottom + above - below) / 2;
  const letters = { "font-family": fontFamily, "font-size": fontSize, "font-weight": fontWeight, "font-style": fontStyle };
  const made = node("text", { x: left, y, ...letters, fill: plainColor(color), "xml:space": "preserve" }, text);
  hold(made, right - left);
  return made;
}
