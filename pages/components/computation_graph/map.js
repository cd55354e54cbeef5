// A graph of which a part is seen, whole and small: which part it is, and a click to another one.

const MAP_HEIGHT = 36;
const MAP_LEAST = 14;
const MAP_GAP = 4; // from the map to the legend above it

// As wide as there is room, as high as the graph then is.
function mapSize(view) {
  const [width, height] = view.data.size;
  const scale = Math.min((view.width - 2 * MARGIN) / Math.max(width, 1), MAP_HEIGHT / Math.max(height, 1));
  return [width * scale, Math.max(height * scale, MAP_LEAST)];
}

function buildMap(view) {
  const { boxes, size: [width, height], words } = view.data;
  const map = view.root.querySelector(".map");
  const small = boxes.map(({ id, place: [x, y, wide, high] }) => {
    const made = node("rect", { class: "small", x, y, width: wide, height: high });
    made.dataset.small = id;
    return made;
  });
  map.setAttribute("viewBox", `0 0 ${Math.max(width, 1)} ${Math.max(height, 1)}`);
  map.setAttribute("aria-label", words.map);
  map.replaceChildren(...small, node("rect", { class: "window" }));
}

function showMap(view) {
  const map = view.root.querySelector(".map");
  const { x, y, scale } = view.camera;
  const { isWhole } = free(view, scale);
  map.style.display = isWhole ? "none" : "";
  const [wide, high] = mapSize(view);
  view.root.querySelector(".legend").style.setProperty("--above", isWhole ? "0px" : `${high + MAP_GAP}px`);
  Object.assign(map.style, { width: `${wide}px`, height: `${high}px` });
  const seen = { x: -x / scale, y: -y / scale, width: view.width / scale, height: view.height / scale };
  for (const [name, value] of Object.entries(seen)) map.querySelector(".window").setAttribute(name, value);
}

function markOnMap(view, now) {
  for (const small of view.root.querySelectorAll(".map .small")) {
    const { small: id } = small.dataset;
    small.setAttribute("class", id === view.selected ? "small chosen" : id === now ? "small now" : "small");
  }
}

function listenToMap(view, map) {
  const go = (event) => {
    if (!event.buttons) return;
    const { left, top, width, height } = map.getBoundingClientRect();
    const [whole, high] = view.data.size;
    const { scale } = view.camera;
    const x = view.width / 2 - ((event.clientX - left) / width) * whole * scale;
    const y = view.height / 2 - ((event.clientY - top) / height) * high * scale;
    view.camera = { x, y, scale };
    place(view);
  };
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    go(event);
  });
  map.addEventListener("pointermove", go);
}
