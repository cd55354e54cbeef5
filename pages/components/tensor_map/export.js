// The picture as a file, drawn from the data, with the colours of the page written into it.

const STYLES = ["fill", "stroke", "stroke-width", "font-size", "font-family", "font-weight", "opacity", "stroke-dasharray", "text-anchor"];

function standalone(picture) {
  const copy = picture.cloneNode(true);
  const originals = picture.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, number) => {
    const style = getComputedStyle(originals[number]);
    element.setAttribute("style", STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  copy.setAttribute("xmlns", SVG);
  const paper = node("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor });
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

async function save(view, kind) {
  const picture = view.root.querySelector(".picture");
  const text = standalone(picture);
  const svg = new Blob([text], { type: "image/svg+xml" });
  offer(kind === "svg" ? svg : await pixels(svg, picture), `${view.data.file_name}.${kind}`);
}

async function pixels(svg, picture) {
  const image = new Image();
  const address = URL.createObjectURL(svg);
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.clientWidth * 2, picture.clientHeight * 2];
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
