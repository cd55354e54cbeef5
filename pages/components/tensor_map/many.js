// More cells than a page draws quickly as elements: one path draws them all, and what the pointer is over
// is computed. A path follows the colours of the page and stays sharp in an export; pixels would not.

const MANY = 768;

const numCells = (scene) => scene.addresses.length + scene.lanes.reduce((sum, { storage }) => sum + storage.num_bytes / storage.itemsize, 0);

function outlines(places, width, height, classes) {
  const inset = Math.min(1, width * 0.08);
  const [w, h] = [width - 2 * inset, height - 2 * inset];
  const d = places.map(([x, y]) => `M${(x + inset).toFixed(2)} ${(y + inset).toFixed(2)}h${w.toFixed(2)}v${h.toFixed(2)}h${(-w).toFixed(2)}z`).join("");
  return node("path", { class: `many ${classes}`, d });
}

function drawManyCells(view, scene) {
  const { addresses, cell, tensor } = scene;
  const storage = view.data.storages[tensor.storage];
  const [same, changed] = [[], []];
  addresses.forEach((address, flat) => (wasWritten(storage, address, tensor.itemsize) ? changed : same).push(cellPlace(scene, flat)));
  const grid = node("g", { class: "cells" });
  for (const [places, classes] of [[same, "read"], [changed, "read changed"]]) {
    if (places.length) grid.append(outlines(places, cell, cell, classes));
  }
  return grid;
}

function drawManyBytes(scene, lane, itemsize, readers) {
  const { byteWidth, rowHeight } = scene.strip;
  const found = { "read changed": [], "gap changed": [], read: [], gap: [] };
  for (let address = 0; (address + 1) * itemsize <= lane.storage.num_bytes; address += 1) {
    const classes = (readers.has(address) ? "read" : "gap") + (wasWritten(lane.storage, address, itemsize) ? " changed" : "");
    found[classes].push(stripPlace(scene, lane, address * itemsize));
  }
  const shown = Object.entries(found).filter(([, places]) => places.length);
  return shown.map(([classes, places]) => outlines(places, itemsize * byteWidth, rowHeight, classes));
}

// The lit elements and their address, drawn over the paths.
function drawLights(scene, flat) {
  const { tensor, cell, strip } = scene;
  const address = scene.addresses[flat];
  const lights = node("g", { class: "lights" });
  scene.addresses.forEach((each, place) => {
    if (each === address) lights.append(box(...cellPlace(scene, place), cell, cell, `cell lit${place === flat ? " chosen" : ""}`, ""));
  });
  const at = stripPlace(scene, laneOf(scene), address * tensor.itemsize);
  lights.append(box(...at, tensor.itemsize * strip.byteWidth, strip.rowHeight, "byte lit chosen", ""));
  return lights;
}

// The element under a point of the picture; of an address the first one that lies there; else -1.
function flatUnder(scene, x, y) {
  const { tensor, addresses, cell, strip } = scene;
  const isIn = ([left, top], width, height) => x >= left && x < left + width && y >= top && y < top + height;
  const flat = addresses.findIndex((_each, place) => isIn(cellPlace(scene, place), cell, cell));
  if (flat >= 0) return flat;
  const lane = laneOf(scene);
  const width = tensor.itemsize * strip.byteWidth;
  return addresses.findIndex((address) => isIn(stripPlace(scene, lane, address * tensor.itemsize), width, strip.rowHeight));
}
