// Pieces of SVG. Built of nodes and text alone: what a reader has typed never becomes markup.

const SVG = "http://www.w3.org/2000/svg";

function node(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
