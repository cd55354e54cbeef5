// explain.py and number_line.py of core/dtypes/facts in the browser: a code and its neighbours.

// The highest bit first: which field each bit belongs to.
function fieldOf(format, place) {
  if (format.kind === "codebook") return "index";
  if (format.signed && place === format.bits - 1) return "sign";
  if (format.kind === "int") return "integer";
  return place >= format.mantissa_bits ? "exponent" : "mantissa";
}

function fields(format, code) {
  if (format.kind !== "float") {
    const signed = format.kind === "int" && format.signed;
    const low = signed ? code & bits(format.bits - 1) : code;
    return { sign: signed ? code >> BigInt(format.bits - 1) : null, exponent: null, mantissa: low };
  }
  const { magnitudeBits } = layout(format);
  return {
    sign: format.signed ? code >> BigInt(magnitudeBits) : null,
    exponent: format.exponent_bits ? (code >> BigInt(format.mantissa_bits)) & bits(format.exponent_bits) : null,
    mantissa: format.mantissa_bits ? code & bits(format.mantissa_bits) : null,
  };
}

function kindOf(format, code) {
  const exact = exactOf(format, code);
  if (exact.special) return exact.special;
  if (format.kind !== "float") return format.kind === "int" ? "integer" : "codebook";
  if (exact.num === 0n) return "zero";
  const isLow = format.zero && !fields(format, code).exponent;
  return isLow ? "subnormal" : "normal";
}

// The rule with the fields put in, as parts: {text, field, raised}; raised parts stand after a "^".
function formulaParts(format, code) {
  if (format.kind === "int") return integerParts(format, code);
  if (format.kind === "codebook") return [{ text: `values[${code}]`, field: "index" }];
  const { sign, exponent, mantissa } = fields(format, code);
  const isLow = format.zero && !exponent;
  const parts = [];
  if (sign !== null) parts.push({ text: "(-1)" }, { text: `${sign}`, field: "sign", raised: true }, { text: " × " });
  if (isLow && !format.subnormals) return [...parts, { text: "0" }];
  const field = isLow ? BigInt(format.zero) : exponent ?? 0n;
  parts.push({ text: "2" }, { text: `(${field} - ${format.bias})`, field: "exponent", raised: true });
  const whole = isLow ? 0 : 1;
  const significand = mantissa === null ? `${whole}` : `(${whole} + ${mantissa}/${1n << BigInt(format.mantissa_bits)})`;
  return [...parts, { text: " × " }, { text: significand, field: "mantissa" }];
}

function integerParts(format, code) {
  const parts = [];
  const { sign, mantissa } = fields(format, code);
  if (sign !== null) parts.push({ text: `-${sign << BigInt(format.bits - 1)}`, field: "sign" }, { text: " + " });
  parts.push({ text: `${mantissa}`, field: "integer" });
  if (format.fraction_bits) parts.push({ text: " × 2" }, { text: `-${format.fraction_bits}`, raised: true });
  return parts;
}

const formulaText = (parts) => parts.map(({ text, raised }) => (raised ? `^${text}` : text)).join("");

// The code of the smallest positive number.
function firstMagnitude(format) {
  if (!format.zero) return 0n;
  return format.subnormals ? 1n : layout(format).hidden;
}

function placeOfZero(format) {
  if (format.signed) return layout(format).maxCode - firstMagnitude(format) + 1n;
  return format.zero ? 0n : -1n;
}

const lowestInteger = (format) => (format.signed ? -(1n << BigInt(format.bits - 1)) : 0n);

// How many different finite numbers there are: +0 and -0 are one.
function numFinite(format) {
  if (format.kind !== "float") return 1n << BigInt(format.bits);
  const top = layout(format).maxCode - firstMagnitude(format) + 1n;
  return top * (format.signed ? 2n : 1n) + BigInt(format.zero);
}

// How many finite numbers are smaller; null for infinity and NaN.
function placeOf(format, code) {
  const exact = exactOf(format, code);
  if (exact.special) return null;
  if (format.kind === "codebook") return code;
  if (format.kind === "int") return (exact.negative ? code - (1n << BigInt(format.bits)) : code) - lowestInteger(format);
  const { magnitudeBits } = layout(format);
  const rank = (code & bits(magnitudeBits)) - firstMagnitude(format) + 1n;
  const kept = rank < 0n ? 0n : rank;
  return placeOfZero(format) + (exact.negative ? -kept : kept);
}

// The code of the number with `place` smaller ones; null beyond either end.
function codeAt(format, place) {
  if (place < 0n || place >= numFinite(format)) return null;
  if (format.kind === "codebook") return place;
  if (format.kind === "int") return (place + lowestInteger(format)) & bits(format.bits);
  const rank = place - placeOfZero(format);
  if (rank === 0n && format.zero) return 0n;
  const magnitude = firstMagnitude(format) + (rank < 0n ? -rank : rank) - 1n;
  return rank < 0n ? magnitude | (1n << BigInt(layout(format).magnitudeBits)) : magnitude;
}

// |a - b|
function distance(a, b) {
  const signed = ({ negative, num }) => (negative ? -num : num);
  const difference = signed(a) * b.den - signed(b) * a.den;
  return reduced({ negative: false, num: difference < 0n ? -difference : difference, den: a.den * b.den });
}

// Powers of two taken out of a binary fraction.
function reduced({ negative, num, den }) {
  if (num === 0n) return { negative, num, den: 1n };
  const zeros = (whole) => bitLength(whole & -whole) - 1;
  const shift = BigInt(Math.min(zeros(num), zeros(den)));
  return { negative, num: num >> shift, den: den >> shift };
}

// The next smaller and the next larger number; beside infinity lies the largest.
function neighbours(format, exact, place) {
  if (place !== null) return [codeAt(format, place - 1n), codeAt(format, place + 1n)];
  if (exact.special !== "infinity") return [null, null];
  if (exact.negative) return [null, codeAt(format, 0n)];
  return [codeAt(format, numFinite(format) - 1n), null];
}

// Everything that the page says about a code.
function explain(format, code) {
  const exact = exactOf(format, code);
  const place = placeOf(format, code);
  const [below, above] = neighbours(format, exact, place);
  const [outer, inner] = exact.negative && exact.num ? [below, above] : [above, below];
  const nearest = outer ?? inner;
  return {
    ...fields(format, code),
    exact, place, below, above,
    kind: kindOf(format, code),
    formula: exact.special ? [] : formulaParts(format, code),
    ulp: exact.special || nearest === null ? null : distance(exact, exactOf(format, nearest)),
  };
}
