// core/dtypes/exact.py in the browser: numbers read from text without rounding, and written out.

const MAX_EXPONENT = 20000;
const MAX_TEXT = 200;
const DECIMAL = /^([+-]?)(\d+\.?\d*|\.\d+)(?:e([+-]?\d{1,5}))?$/;
const HEX_FLOAT = /^([+-]?)0x([0-9a-f]+)(?:\.([0-9a-f]*))?p([+-]?\d{1,5})$/;
const POWER = /^([+-]?)(\d{1,4})(?:\^|\*\*)(?:\(([+-]?\d{1,5})\)|([+-]?\d{1,5}))$/;
const CODE = /^(0x[0-9a-f]{1,16}|0b[01]{1,64})$/;

// From U+FF01 on, a Chinese keyboard has the signs of ASCII once more, as wide as a character.
const narrow = (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xff01 + 0x21);
const plainText = (text) => text.replaceAll(/[\uff01-\uff5e]/g, narrow).trim().toLowerCase();

// A code in hexadecimal or binary, such as 0x3c00 or 0b101; null for anything else and for a code that is too large.
function readCode(format, text) {
  const match = CODE.exec(plainText(text));
  if (!match) return null;
  const code = BigInt(match[1]);
  return code >> BigInt(format.bits) ? null : code;
}

// A number as {negative, num, den} or a special; null if the text is none.
function readNumber(text) {
  const word = plainText(text).replaceAll("\u2212", "-").replaceAll(/[_\s]/g, "");
  if (word.length > MAX_TEXT) return null;
  const negative = word.startsWith("-");
  const plain = word.replace(/^[+-]/, "");
  if (["inf", "infinity", "\u221e"].includes(plain)) return infinity(negative);
  if (plain === "nan") return nan();
  return readPlain(word) ?? readRatio(word);
}

function readPlain(word) {
  let match = HEX_FLOAT.exec(word);
  if (match) {
    const [, sign, whole, part = "", exponent] = match;
    return power(sign, BigInt(`0x${whole}${part}`), 2n, Number(exponent) - 4 * part.length, exponent);
  }
  match = POWER.exec(word);
  if (match) {
    const [, sign, base, inside, outside] = match;
    const exponent = inside ?? outside;
    const digits = (BigInt(base) - 1n).toString(2).length; // of a power of two: its exponent
    const isLarge = digits * Math.abs(Number(exponent)) > MAX_EXPONENT && Number(base) > 1;
    return Number(base) && !isLarge ? power(sign, 1n, BigInt(base), Number(exponent), exponent) : null;
  }
  match = DECIMAL.exec(word);
  if (!match) return null;
  const [, sign, digits, exponent = "0"] = match;
  const [whole, part = ""] = digits.split(".");
  return power(sign, BigInt(whole + part), 10n, Number(exponent) - part.length, exponent);
}

function readRatio(word) {
  const [upper, lower, ...more] = word.split("/");
  if (lower === undefined || more.length || !DECIMAL.test(upper) || !DECIMAL.test(lower)) return null;
  const [a, b] = [readPlain(upper), readPlain(lower)];
  if (!a || !b?.num) return null;
  return { negative: a.negative !== b.negative, num: a.num * b.den, den: a.den * b.num };
}

// factor * base**exponent; null where `said`, the exponent of the text, would only fill the memory.
function power(sign, factor, base, exponent, said) {
  if (Math.abs(Number(said)) > MAX_EXPONENT) return null;
  const scale = base ** BigInt(Math.abs(exponent));
  const negative = sign === "-";
  return exponent < 0 ? { negative, num: factor, den: scale } : { negative, num: factor * scale, den: 1n };
}

// Decimal digits: all of them, or `maxDigits` significant ones and then an ellipsis.
function exactDecimal({ negative, num, den }, maxDigits = 60) {
  if (num === 0n) return { text: "0", whole: true };
  const { place, digits, whole } = decimalDigits(num, den, maxDigits);
  const [sign, more] = [negative ? "-" : "", whole ? "" : "\u2026"];
  if (place >= -7 && place < 21) return { text: sign + placed(digits, place) + more, whole };
  const point = digits.length > 1 ? `.${digits.slice(1)}` : "";
  return { text: `${sign}${digits[0]}${point}${more}e${place < 0 ? "" : "+"}${place}`, whole };
}

// The decimal exponent of the first digit, the digits, and whether these are all.
function decimalDigits(num, den, maxDigits) {
  const scaled = (exponent) =>
    exponent >= 0 ? [num * 10n ** BigInt(exponent), den] : [num, den * 10n ** BigInt(-exponent)];
  let place = num.toString().length - den.toString().length;
  const [upper, lower] = scaled(-place);
  if (upper < lower) place -= 1;
  const [top, bottom] = scaled(maxDigits - 1 - place);
  return { place, digits: (top / bottom).toString().replace(/0+$/, ""), whole: top % bottom === 0n };
}

function placed(digits, place) {
  if (place < 0) return `0.${"0".repeat(-place - 1)}${digits}`;
  const whole = digits.slice(0, place + 1).padEnd(place + 1, "0");
  const part = digits.slice(place + 1);
  return part ? `${whole}.${part}` : whole;
}

// A binary fraction as C and Python write it: 0x1.8p+3.
function hexFloat({ negative, num, den }) {
  if (num === 0n) return "0x0p+0";
  const length = bitLength(num) - 1;
  const exponent = length - (bitLength(den) - 1);
  const padding = (4 - (length % 4)) % 4;
  const part = (num - (1n << BigInt(length))) << BigInt(padding);
  const digits = part.toString(16).padStart((length + padding) / 4, "0").replace(/0+$/, "");
  return `${negative ? "-" : ""}0x1${digits && `.${digits}`}p${exponent < 0 ? "" : "+"}${exponent}`;
}
