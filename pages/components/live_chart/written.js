// Numbers and sentences written for people, as core/units.py writes them; tests/browser compares the two.

const MISSING = "–"

function fill(template, values) {
  return template.replace(/\{(\w+)(?::02d)?\}/g, (whole, name) => (name in values ? values[name] : whole))
}

function short(value) {
  const size = Math.abs(value)
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)
}

function scale(value, base, names) {
  for (const name of names.slice(0, -1)) {
    if (Math.abs(value) < base * (1 - 0.5e-3)) return [value, name]
    value /= base
  }
  return [value, names[names.length - 1]]
}

function formatExact(count) {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",")
}

function formatBytes(numBytes, unit) {
  const names = { GiB: ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], GB: ["B", "kB", "MB", "GB", "TB", "PB"] }
  const [value, name] = scale(numBytes, unit === "GiB" ? 1024 : 1000, names[unit])
  return `${name === "B" ? formatExact(value) : short(value)} ${name}`
}

function formatCount(count) {
  const [value, name] = scale(count, 1000, ["", " k", " M", " B", " T"])
  return `${name ? short(value) : String(Number(value.toPrecision(4)))}${name}`
}

function formatRate(perSecond, what) {
  return `${formatCount(perSecond)} ${what}/s`
}

function formatFlopsPerSecond(rate) {
  const [value, name] = scale(rate, 1000, ["", "k", "M", "G", "T", "P", "E", "Z", "Y"])
  return `${short(value)} ${name}FLOP/s`
}

function formatPercent(fraction, words) {
  return fill(words.percent, { number: Number((fraction * 100).toPrecision(3)) })
}

function formatSeconds(seconds, words) {
  if (seconds < 59.95) return underAMinute(seconds)
  const whole = Math.round(seconds)
  const two = (number) => String(number).padStart(2, "0")
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return fill(words.minutes, { minutes, seconds: two(whole % 60) })
  return fill(words.hours, { hours: Math.floor(minutes / 60), minutes: two(minutes % 60) })
}

function underAMinute(seconds) {
  if (seconds && seconds < 1e-3) return `${short(seconds * 1e6)} µs`
  if (seconds && seconds < 0.9995) return `${short(seconds * 1e3)} ms`
  return `${short(seconds)} s`
}

function formatScientific(value) {
  return value.toExponential(2).replace(/e([+-])(\d)$/, "e$10$2")
}

function formatLoss(value) {
  return value.toFixed(3)
}

function written(value, write) {
  return value === null || value === undefined ? MISSING : write(value)
}

function say(view, selector, text) {
  const element = view.root.querySelector(selector)
  if (element.textContent !== text) element.textContent = text
}
