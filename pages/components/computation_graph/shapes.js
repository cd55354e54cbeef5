// Shapes that pictures of ours have in common.

const fill = (template, values) => template.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

// Level where it leaves a point and where it arrives.
function curveThrough(points) {
  let d = `M${points[0].join(" ")}`;
  for (let at = 1; at < points.length; at += 1) {
    const [[x, y], [right, level]] = [points[at - 1], points[at]];
    const middle = (x + right) / 2;
    d += y === level ? `H${right}` : `C${middle} ${y} ${middle} ${level} ${right} ${level}`;
  }
  return d;
}

// Points to the right where a value arrives, or to the left where a gradient does.
const headAt = ([x, y], way) => node("path", { class: way > 0 ? "head onwards" : "head backwards", d: `M${x} ${y}l${-9 * way} -5v10z` });

// The middle of a link's last stretch, where it comes down to one user.
function middleOf(points) {
  const [[x, y], [right, level]] = points.slice(-2);
  return [(x + right) / 2, (y + level) / 2];
}

function scissorsAt([x, y]) {
  const group = node("g", { class: "scissors", transform: `translate(${x} ${y})` });
  group.append(node("path", { d: "M-7 -9L5 6M7 -9L-5 6" }), node("circle", { cx: -6, cy: 9, r: 3.5 }), node("circle", { cx: 6, cy: 9, r: 3.5 }));
  return group;
}

// A padlock: closed while a node keeps what its backward needs.
function lockAt(x, y, larger) {
  const group = node("g", { class: "lock", transform: `translate(${x} ${y}) scale(${larger})` });
  group.append(node("rect", { class: "body", x: 0, y: 6, width: 11, height: 8, rx: 1.5 }));
  group.append(node("path", { class: "closed", d: "M2 6V3.5a3.5 3.5 0 0 1 7 0V6" }), node("path", { class: "opened", d: "M2 6V2a3.5 3.5 0 0 1 7 0" }));
  return group;
}
