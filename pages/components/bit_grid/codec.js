// The codecs of core/dtypes/number_formats (float, int, codebook) in the browser: codes to numbers
// and back, rounded once to the nearest. Codes are BigInt: a code of 64 bits is no exact Number.
// A format arrives as a row of data (bit_grid.py). An exact number is {negative, num, den}, or
// {special: "nan" | "infinity", negative}.

const bits = (count) => (1n << BigInt(count)) - 1n;

const LAYOUTS = new WeakMap();

function layout(format) {
  if (!LAYOUTS.has(format)) LAYOUTS.set(format, newLayout(format));
  return LAYOUTS.get(format);
}

function newLayout(format) {
  const magnitudeBits = format.exponent_bits + format.mantissa_bits;
  const top = bits(magnitudeBits);
  const maxCode = top - BigInt(format.num_nans) - BigInt(format.infinity);
  return {
    magnitudeBits,
    maxCode,
    hidden: 1n << BigInt(format.mantissa_bits),
    minExponent: Number(format.zero) - format.bias,
    infinityCode: format.infinity ? maxCode + 1n : null,
    nanCode: nanCode(format, top, maxCode),
  };
}

// The quiet NaN of IEEE, else the top code; without both the code of -0, where that is none.
function nanCode(format, top, maxCode) {
  if (!format.num_nans) return format.negative_zero ? null : top + 1n;
  const isIeee = format.infinity && BigInt(format.num_nans) === bits(format.mantissa_bits);
  return isIeee ? maxCode + 1n + (1n << BigInt(format.mantissa_bits - 1)) : top;
}

// The number 2**power as num / den.
function binary(negative, whole, power) {
  if (power >= 0) return { negative, num: whole << BigInt(power), den: 1n };
  return { negative, num: whole, den: 1n << BigInt(-power) };
}

const nan = (negative = false) => ({ special: "nan", negative });
const infinity = (negative) => ({ special: "infinity", negative });

// What one code means, without any rounding.
function exactOf(format, code) {
  if (format.kind === "int") return exactInteger(format, code);
  if (format.kind === "codebook") return exactNumber(format.values[Number(code)]);
  const { magnitudeBits, maxCode, infinityCode, hidden } = layout(format);
  const magnitude = code & bits(magnitudeBits);
  const negative = format.signed && code >> BigInt(magnitudeBits) > 0n;
  if (negative && magnitude === 0n && !format.negative_zero) return nan(negative);
  if (magnitude === infinityCode) return infinity(negative);
  if (magnitude > maxCode) return nan(negative);
  const field = Number(magnitude >> BigInt(format.mantissa_bits));
  const mantissa = magnitude & (hidden - 1n);
  const isLow = format.zero && field === 0;
  const lowMantissa = format.subnormals ? mantissa : 0n;
  const power = Math.max(field, Number(format.zero)) - format.bias - format.mantissa_bits;
  return binary(negative, isLow ? lowMantissa : hidden + mantissa, power);
}

function exactInteger(format, code) {
  const negative = format.signed && code >> BigInt(format.bits - 1) > 0n;
  const whole = negative ? (1n << BigInt(format.bits)) - code : code;
  return binary(negative, whole, -format.fraction_bits);
}

// A float64 as an exact number: its own bits say it.
function exactNumber(value) {
  if (Number.isNaN(value)) return nan();
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const code = view.getBigUint64(0);
  const field = Number((code >> 52n) & 2047n);
  const negative = code >> 63n === 1n;
  if (field === 2047) return infinity(negative);
  const whole = (code & bits(52)) + (field ? 1n << 52n : 0n);
  return binary(negative, whole, Math.max(field, 1) - 1075);
}

// The nearest float64; infinity or zero beyond it.
function toNumber(exact) {
  const sign = exact.negative ? -1 : 1;
  if (exact.special) return exact.special === "nan" ? NaN : sign * Infinity;
  const code = encodeFloat(FLOAT64, exact);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, code);
  return view.getFloat64(0);
}

const FLOAT64 = {
  kind: "float", bits: 64, exponent_bits: 11, mantissa_bits: 52, bias: 1023, signed: true, infinity: true,
  num_nans: 2 ** 52 - 1, negative_zero: true, zero: true, subnormals: true,
};

function decode(format, code) {
  return toNumber(exactOf(format, code));
}

// The code of a float64.
function encode(format, value) {
  return encodeExact(format, exactNumber(value));
}

// The code of an exact number, to the nearest, ties to even.
function encodeExact(format, exact) {
  if (format.kind === "int") return encodeInteger(format, exact);
  if (format.kind === "codebook") return encodeChoice(format, exact);
  return encodeFloat(format, exact);
}

function encodeFloat(format, exact) {
  const { magnitudeBits, nanCode } = layout(format);
  const sign = format.signed && exact.negative && exact.special !== "nan" ? 1n << BigInt(magnitudeBits) : 0n;
  if (exact.special === "nan") return nanCode ?? 0n;
  const magnitude = magnitudeCode(format, exact);
  if (!format.signed) {
    const isBelowZero = exact.negative && (exact.special || exact.num > 0n);
    return isBelowZero && (magnitude > 0n || !format.zero) ? nanCode ?? 0n : magnitude;
  }
  return magnitude === 0n && !format.negative_zero ? 0n : magnitude | sign;
}

function magnitudeCode(format, exact) {
  const { hidden, minExponent, maxCode, infinityCode, nanCode } = layout(format);
  const overflow = infinityCode ?? nanCode ?? maxCode;
  if (exact.special) return overflow;
  const exponent = exact.num ? floorLog2(exact) : minExponent;
  const lifted = Math.max(exponent, minExponent);
  let whole = rounded(exact, format.mantissa_bits - lifted);
  if (!format.subnormals && lifted === minExponent && whole < hidden) whole = 0n;
  const code = whole + (BigInt(lifted - minExponent) << BigInt(format.mantissa_bits));
  const lowest = format.zero ? code : code - hidden;
  const kept = lowest < 0n ? 0n : lowest;
  return kept > maxCode ? overflow : kept;
}

// |x| * 2**shift as the nearest whole number, ties to the even one.
function rounded({ num, den }, shift) {
  const upper = shift > 0 ? num << BigInt(shift) : num;
  const lower = shift < 0 ? den << BigInt(-shift) : den;
  const whole = upper / lower;
  const twice = 2n * (upper % lower);
  return twice > lower || (twice === lower && whole & 1n) ? whole + 1n : whole;
}

function bitLength(whole) {
  const digits = whole.toString(16); // four times as fast as counting binary digits
  return digits.length * 4 - Math.clz32(parseInt(digits[0], 16)) + 28;
}

// The exponent of the largest power of two that is not above a positive number.
function floorLog2({ num, den }) {
  const guess = bitLength(num) - bitLength(den);
  const isAbove = guess >= 0 ? num < den << BigInt(guess) : num << BigInt(-guess) < den;
  return isAbove ? guess - 1 : guess;
}

// Integers saturate, and NaN becomes zero.
function encodeInteger(format, exact) {
  if (exact.special === "nan") return 0n;
  const half = format.signed ? 1n << BigInt(format.bits - 1) : 0n;
  const limit = exact.negative ? half : bits(format.bits - Number(format.signed));
  const whole = exact.special ? limit : rounded(exact, format.fraction_bits);
  const kept = whole > limit ? limit : whole;
  return (exact.negative ? -kept : kept) & bits(format.bits);
}

// The nearest entry of the table; a tie goes to the lower one, NaN to zero.
function encodeChoice({ values }, exact) {
  const last = values.length - 1;
  const number = exact.special === "nan" ? 0 : toNumber(exact);
  const value = Math.min(Math.max(number, values[0]), values[last]);
  const lower = values.findLastIndex((each) => each <= value);
  const upper = Math.min(lower + 1, last);
  const step = upper > lower ? values[upper] - values[lower] : 1;
  return BigInt((value - values[lower]) / step > 0.5 ? upper : lower);
}
