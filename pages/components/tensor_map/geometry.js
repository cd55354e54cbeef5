// Where things lie: addresses in a storage, cells in a grid, bytes on a strip. Lengths are in cells
// or bytes until `draw.js` gives them pixels. Each function has its original in Python.

const LINE_BYTES = 64;
const PHONE = 480; // pixels: below it a cache line is too narrow for its numbers

// The address of every element, in elements, in the tensor's own order.
function addressesOf({ shape, stride, offset }) {
  let found = [offset];
  shape.forEach((length, axis) => {
    found = found.flatMap((start) => Array.from({ length }, (_each, place) => start + place * stride[axis]));
  });
  return found;
}

function indexOf(flat, shape) {
  const index = new Array(shape.length);
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    index[axis] = flat % shape[axis];
    flat = Math.floor(flat / shape[axis]);
  }
  return index;
}

const flatOf = (index, shape) => index.reduce((flat, place, axis) => flat * shape[axis] + place, 0);

// The last dimension runs to the right, the one before it down; further ones set blocks side by
// side and below each other in turn, with wider gaps the further out they are.
function placesOf(shape) {
  const rank = shape.length;
  const extent = [1, 1];
  const steps = [];
  for (let out = 0; out < rank; out += 1) {
    const way = out % 2;
    const gap = out < 2 ? 0 : 0.35 * Math.floor(out / 2);
    const length = Math.max(shape[rank - 1 - out], 1);
    steps.push({ way, step: extent[way] + gap });
    extent[way] = length * extent[way] + (length - 1) * gap;
  }
  const at = (flat) => {
    const place = [0, 0];
    indexOf(flat, shape).forEach((index, axis) => {
      const { way, step } = steps[rank - 1 - axis];
      place[way] += index * step;
    });
    return place;
  };
  return { width: extent[0], height: extent[1], at };
}

// As many bytes in a row as keep the cells largest, whole cache lines each; on a phone halves of them.
function stripOf(numBytes, width, height, largest) {
  const lineBytes = width < PHONE ? LINE_BYTES / 2 : LINE_BYTES;
  let best = { bytesInRow: lineBytes, byteWidth: 0 };
  const numLines = Math.max(Math.ceil(numBytes / lineBytes), 1);
  for (let lines = 1; lines <= numLines; lines += 1) {
    const rows = Math.ceil(numLines / lines);
    const byteWidth = Math.min(width / (lines * lineBytes), largest);
    const rowHeight = Math.min(height / rows, STRIP_ROW);
    const size = Math.min(byteWidth * 4, rowHeight);
    if (size > (best.size ?? 0)) best = { size, bytesInRow: lines * lineBytes, byteWidth, rowHeight, rows };
  }
  return best;
}

// How often each byte address is read by a tensor: element start -> elements that lie there.
function readersOf(addresses) {
  const readers = new Map();
  addresses.forEach((address, flat) => {
    if (!readers.has(address)) readers.set(address, []);
    readers.get(address).push(flat);
  });
  return readers;
}
