// What the reader sees of a number: bits, formula, value and its neighbours. It computes nothing.

const SHORT_DIGITS = 12; // significant digits of a value; the exact number has its own line
const WIDE_DIGITS = 20; // neighbours in a format of more than 32 bits differ later
const LONG_DIGITS = 60;

function element(name, className = "", text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);

const hexCode = (format, code) => `0x${code.toString(16).toUpperCase().padStart(Math.ceil(format.bits / 4), "0")}`;

const grouped = (whole) => whole.toString().replace(/\B(?=(\d{3})+$)/g, ",");

function shortText(exact, format) {
  if (exact.special === "nan") return "NaN";
  const sign = exact.negative ? "-" : "";
  if (exact.special) return `${sign}\u221e`;
  return exact.num === 0n ? `${sign}0` : exactDecimal(exact, format.bits > 32 ? WIDE_DIGITS : SHORT_DIGITS).text;
}

// The bits in order, the highest first, as runs of one field.
function runsOf(format) {
  const runs = [];
  for (let place = format.bits - 1; place >= 0; place--) {
    const field = fieldOf(format, place);
    if (runs.at(-1)?.field === field) runs.at(-1).places.push(place);
    else runs.push({ field, places: [place] });
  }
  return runs;
}

// Which bit numbers are written out: all where there is room, else the ends of each field.
function isNumbered(format, places, place) {
  if (format.bits <= 19) return true;
  if (format.bits <= 32) return place === places[0] || place === places.at(-1);
  return place === 0 || (place === places[0] && places.length > 1); // two numbers need two cells
}

function buildBits(view) {
  const { format, words } = view.data;
  const row = view.root.querySelector(".bits");
  row.style.setProperty("--bits", format.bits);
  row.dataset.room = format.bits <= 19 ? "wide" : format.bits <= 32 ? "narrow" : "tight";
  row.setAttribute("aria-label", fill(words.bits, { format: format.name }));
  const cells = [];
  const labels = runsOf(format).map(({ field, places }) => {
    cells.push(...places.map((place) => bitButton(view, field, place, isNumbered(format, places, place))));
    return fieldLabel(view, field, places.length);
  });
  row.replaceChildren(...labels, ...cells);
  view.cells = cells.reverse(); // by bit number
}

function fieldLabel({ data: { words } }, field, count) {
  const label = element("span", "field");
  label.dataset.field = field;
  label.style.gridColumn = `span ${count}`;
  label.title = `${words[`field_${field}`]}: ${fill(words.num_bits, { count })}`;
  label.append(element("b", "", count > 2 ? words[`field_${field}`] : words[`short_${field}`]));
  if (count > 4) label.append(element("i", "", ` ${fill(words.num_bits, { count })}`));
  return label;
}

function bitButton({ data: { words } }, field, place, isNumbered) {
  const button = element("button", "bit");
  button.type = "button";
  button.dataset.field = field;
  button.dataset.place = place;
  button.tabIndex = -1;
  button.setAttribute("aria-label", fill(words.bit, { number: place, field: words[`field_${field}`] }));
  button.append(element("small", "", isNumbered ? String(place) : "\u00a0"), element("b"));
  return button;
}

function partNode({ text, field, raised }) {
  const node = element(raised ? "sup" : "span", "", text);
  if (field) node.dataset.field = field;
  return node;
}

// The rule of a format in letters, before the numbers are put in.
function ruleParts(format, kind) {
  if (format.kind !== "float" || kind === "infinity" || kind === "nan") return [];
  const isLow = kind === "zero" || kind === "subnormal";
  const parts = format.signed ? [{ text: "(-1)" }, { text: "s", field: "sign", raised: true }, { text: " × " }] : [];
  const field = format.exponent_bits && !isLow ? "E" : String(Number(format.zero));
  parts.push({ text: "2" }, { text: `(${field} - ${format.bias})`, field: "exponent", raised: true }, { text: " × " });
  const whole = isLow ? 0 : 1;
  if (!format.mantissa_bits) return [...parts, { text: `${whole}`, field: "mantissa" }];
  return [...parts, { text: `(${whole} + M/2`, field: "mantissa" },
    { text: `${format.mantissa_bits}`, field: "mantissa", raised: true }, { text: ")", field: "mantissa" }];
}

function showFormula(view, facts) {
  const { format } = view.data;
  view.root.querySelector(".rule").replaceChildren(...ruleParts(format, facts.kind).map(partNode));
  const line = view.root.querySelector(".formula");
  line.replaceChildren(...facts.formula.map(partNode));
  if (facts.formula.length) line.append(" = ");
  view.root.querySelector(".value").textContent = shortText(facts.exact, view.data.format);
  const kind = view.root.querySelector(".kind");
  kind.textContent = view.data.words[`kind_${facts.kind}`];
  kind.dataset.kind = facts.kind;
}

function showDetails(view, facts) {
  const { format, words } = view.data;
  const list = view.root.querySelector("dl");
  if (view.data.size !== "full") return;
  list.replaceChildren(...detailRows(format, words, view.code, facts).flatMap(([word, text]) => [
    element("dt", "", words[word]), element("dd", "", text),
  ]));
}

function detailRows(format, words, code, facts) {
  const rows = [["why", words[`why_${facts.kind}`]], ["code", `${hexCode(format, code)} = ${grouped(code)}`]];
  if (facts.place === null) return rows;
  const long = exactDecimal(facts.exact, LONG_DIGITS);
  const larger = numFinite(format) - facts.place - 1n;
  rows.push([long.whole ? "decimal" : "decimal_cut", long.text], ["hex_float", hexFloat(reduced(facts.exact))]);
  if (facts.ulp) rows.push(["ulp", ulpText(facts.ulp)]);
  rows.push(["place", fill(words.place_value, { smaller: grouped(facts.place), larger: grouped(larger) })]);
  return rows;
}

function ulpText(ulp) {
  const { text } = exactDecimal(ulp, SHORT_DIGITS);
  const isPower = !(ulp.num & (ulp.num - 1n));
  return isPower ? `2^${floorLog2(ulp)} = ${text}` : text;
}

function showNeighbours(view, facts) {
  const { format, words } = view.data;
  for (const [name, code] of [["below", facts.below], ["above", facts.above]]) {
    const button = view.root.querySelector(`[data-step=${name}]`);
    button.disabled = code === null;
    const text = code === null ? words[`no_${name}`] : shortText(exactOf(format, code), format);
    button.querySelector("b").textContent = text;
    button.setAttribute("aria-label", `${words[name]}: ${text}`);
  }
}

function showBits(view) {
  view.cells.forEach((cell, place) => {
    const isOn = (view.code >> BigInt(place)) & 1n;
    cell.lastChild.textContent = String(isOn);
    cell.setAttribute("aria-pressed", isOn ? "true" : "false");
  });
}

// The codes that a button leads to; a format without such a number has no such button.
function presets(format, code) {
  const top = format.kind === "float" ? layout(format) : {};
  const isFloat = format.kind === "float";
  const hasSubnormals = isFloat && format.zero && format.subnormals && format.mantissa_bits > 0;
  return {
    negate: negated(format, code),
    zero: isFloat && !format.zero ? null : encodeExact(format, binary(false, 0n, 0)),
    one: encodeExact(format, binary(false, 1n, 0)),
    max: codeAt(format, numFinite(format) - 1n),
    min_normal: isFloat ? (format.zero ? top.hidden : 0n) : null,
    min_subnormal: hasSubnormals ? 1n : null,
    infinity: top.infinityCode ?? null,
    nan: top.nanCode ?? null,
  };
}

function negated(format, code) {
  if (!format.signed) return null;
  const exact = exactOf(format, code);
  if (format.kind === "int") return encodeInteger(format, { ...exact, negative: !exact.negative });
  const { magnitudeBits } = layout(format);
  const isLoneZero = !format.negative_zero && !(code & bits(magnitudeBits));
  return isLoneZero ? code : code ^ (1n << BigInt(magnitudeBits));
}

function showPresets(view) {
  const { format } = view.data;
  for (const [name, code] of Object.entries(presets(format, view.code))) {
    const button = view.root.querySelector(`[data-preset=${name}]`);
    button.hidden = code === null;
    button.onclick = () => view.choose(code);
  }
}
