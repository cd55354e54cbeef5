// A drawn picture as a file of its own: what the page's style says of it is written into it.

const STYLES = [
  "display", "visibility", "opacity", "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray",
  "stroke-linejoin", "paint-order", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "color",
];
const MOST_PIXELS = 16000; // pixels of a canvas
const MIXED = /color\(srgb ([-\d.e]+) ([-\d.e]+) ([-\d.e]+)(?: \/ ([\d.e-]+))?\)/g;

// A mixed colour as every viewer reads it.
function plainColor(text) {
  return text.replace(MIXED, (_all, red, green, blue, alpha) => {
    const bytes = [red, green, blue].map((share) => Math.round(Math.min(Math.max(share, 0), 1) * 255));
    return alpha === undefined ? `rgb(${bytes.join(", ")})` : `rgba(${bytes.join(", ")}, ${alpha})`;
  });
}

// A file finds other fonts elsewhere: there too a line is as long as it was laid out.
function hold(text, length) {
  if (!(length > 0)) return;
  text.setAttribute("textLength", length.toFixed(2));
  text.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

// A copy that needs no page around it; what is not seen, or only a mouse needs, stays behind.
function copied(picture) {
  const copy = picture.cloneNode(true);
  const originals = picture.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, number) => {
    const style = getComputedStyle(originals[number]);
    element.style.setProperty("vector-effect", "none"); // on paper lines grow with the picture
    for (const name of STYLES) element.style.setProperty(name, plainColor(style.getPropertyValue(name)));
    const isLetters = element.matches("text, tspan") && !element.childElementCount && element.textContent;
    if (isLetters) hold(element, originals[number].getComputedTextLength());
  });
  const isUnseen = (each) => each.style.display === "none" || each.matches(".draglayer, .hoverlayer, .zoomlayer");
  for (const each of copy.querySelectorAll("*")) if (isUnseen(each)) each.remove();
  for (const each of copy.querySelectorAll("[data-unformatted]")) each.removeAttribute("data-unformatted");
  return copy;
}

// Plotly may write the page's own address into a reference; inside a file it is the file's.
function asText(svg) {
  svg.setAttribute("xmlns", SVG);
  return new XMLSerializer().serializeToString(svg).replace(/url\((?:&quot;|["'])?[^#()"'&]*#([^()"'&]+)(?:&quot;|["'])?\)/g, "url(#$1)");
}

// Offered as a file: the text of an SVG, or its pixels, two for one where a canvas has room for them.
async function offer(svg, kind, file_name) {
  const blob = new Blob([asText(svg)], { type: "image/svg+xml" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(kind === "svg" ? blob : await pixels(blob, svg));
  link.download = `${file_name}.${kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function pixels(blob, svg) {
  const image = new Image();
  const address = URL.createObjectURL(blob);
  image.src = address;
  await image.decode();
  const sizes = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  const scale = Math.min(2, ...sizes.map((size) => MOST_PIXELS / size));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = sizes.map((size) => Math.round(size * scale));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  return new Promise((done) => canvas.toBlob((png) => done(png), "image/png"));
}

// Left, top, width and height of what is drawn, in the picture's own coordinates.
function boxOf(picture) {
  const { x, y, width, height } = picture.viewBox.baseVal ?? {};
  return width ? [x, y, width, height] : [0, 0, picture.clientWidth, picture.clientHeight];
}

// A picture alone, on the colour of the page: all of it or a box, unzoomed.
function save(picture, kind, file_name, [x, y, width, height] = boxOf(picture), zoom = 1) {
  const copy = copied(picture);
  const size = { width: width / zoom, height: height / zoom, viewBox: `${x} ${y} ${width} ${height}` };
  for (const [name, value] of Object.entries(size)) copy.setAttribute(name, value);
  copy.prepend(node("rect", { x, y, width, height, fill: getComputedStyle(document.body).backgroundColor }));
  return offer(copy, kind, file_name);
}
