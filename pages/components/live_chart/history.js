// What the stream has told so far about one run, and the traces that follow from it. The roles are
// those of charts.py, whose empty traces are filled here.

// COLUMNS, CATEGORIES and AROUND stand in front of it, from Python: `names_in_js` of feed.py.
const MAX_POINTS = 1500
// The change marks stand on an axis of their own from 0 to 1, so that they stay at the top. A mark goes
// one row down where its label would be printed over another's; behind the last row it is left to the hover.
const MARK_HEIGHTS = [0.93, 0.81, 0.69, 0.57]
const MARK_ROOM = 0.2 // of the horizontal axis, for a mark and its label
const LABEL_ROOM = 0.15 // of the loss axis, below the lowest rung

function emptyHistory() {
  const columns = Object.fromEntries(COLUMNS.map((name) => [name, []]))
  return { run: null, info: {}, state: null, events: [], columns }
}

function append(history, message) {
  const { columns } = history
  const first = columns.step.length
  for (const name of COLUMNS) for (const value of message.columns?.[name] ?? []) columns[name].push(value)
  history.events.push(...(message.events ?? []))
  if (message.state) Object.assign(history, { before: history.state ?? message.state, state: message.state })
  if (message.info) history.info = message.info
  if (message.step_seconds) history.totals = { num: message.total_records, seconds: message.step_seconds }
  return first
}

function eventsOf(history, kind) {
  return history.events.filter((event) => event.kind === kind)
}

// By rising step, without what a later attempt did again.
function newestOf(history, kind) {
  const kept = []
  for (const event of eventsOf(history, kind)) {
    while (kept.length && kept.at(-1).step >= event.step) kept.pop()
    kept.push(event)
  }
  return kept
}

function multiplierChanges(history) {
  return eventsOf(history, "ack").filter((ack) => ack.op === "set_learning_rate_multiplier" && ack.accepted)
}

// NaN where a loop of the reader's own did not tell.
function tokensPerStep({ config }) {
  return config.tokens_per_step ?? config.batch_size * config.seq_len * (config.accumulation_steps ?? 1)
}

// A loop of the reader's own: what it is told to stop saves nothing here, and its loss may be any.
const WATCHED_STATES = { stopping: "leaving", stopped: "left" }

function isWatched({ info }) {
  return info.source === "watch"
}

function predictedTokensPerSecond(info) {
  const seconds = info.prediction?.seconds_per_step
  return seconds ? tokensPerStep(info) / seconds : null
}

function meanTokensPerSecond({ info, totals }) {
  return totals ? (tokensPerStep(info) * totals.num) / totals.seconds || null : null
}

// A run that came with the app, replayed until there is one of this server.
function isRecorded({ info }) {
  return Boolean(info.recorded)
}

function onGpu({ info }) {
  return info.resolved?.device === "cuda"
}

function mfu(history) {
  const { prediction, resolved } = history.info
  const rate = meanTokensPerSecond(history)
  if (!prediction?.flops_per_step || !resolved?.peak_flops_per_second || !rate) return null
  return (prediction.flops_per_step * rate) / tokensPerStep(history.info) / resolved.peak_flops_per_second
}

// The indices that keep every dip, every peak and every missing value of a curve: for one trace
// what core/train/run/history.py keeps.
function decimated(values, maxPoints = MAX_POINTS) {
  if (values.length <= maxPoints) return values.map((_value, index) => index)
  const length = Math.ceil(values.length / Math.floor((maxPoints - 2) / 2))
  const kept = new Set([0, values.length - 1])
  values.forEach((value, index) => { if (value === null) kept.add(index) })
  for (let start = 0; start < values.length; start += length) {
    let [low, high] = [start, start]
    for (let index = start; index < Math.min(start + length, values.length); index += 1) {
      if (values[index] === null) continue
      if (values[low] === null || values[index] < values[low]) low = index
      if (values[high] === null || values[index] > values[high]) high = index
    }
    kept.add(low).add(high)
  }
  return [...kept].sort((a, b) => a - b)
}

function curve(x, y) {
  const kept = decimated(y)
  return { x: kept.map((index) => x[index]), y: kept.map((index) => y[index]) }
}

// Newest records and ghosts; `smoothing` remembers where the average stands, for the next update.
function lossTraces(history, axis, strength) {
  const { step, loss, attempt } = history.columns
  const x = xOfRecords(history, axis)
  const redone = superseded(step, attempt)
  const pick = (values, wanted) => values.filter((_value, index) => redone[index] === wanted)
  const [steps, values, places] = [step, loss, x].map((each) => pick(each, false))
  const smoothing = { average: null, step: 0 }
  const average = smooth(steps, values, history.info.config?.num_steps ?? Infinity, smoothing, strength)
  const evaluations = newestOf(history, "eval")
  return {
    smoothing,
    ghost: curve(pick(x, true), pick(loss, true)),
    training: curve(places, values),
    smoothed: curve(places, average),
    validation: { x: xOfEvents(history, axis, evaluations), y: evaluations.map((e) => e.validation_loss) },
    non_finite: brokenSteps(x, loss),
  }
}

// How far the loss axis goes down, so that the lowest rung's label is not cut.
function labelRoom({ columns, info, events }) {
  const { ln_vocab: top, unigram_entropy: middle, bigram_entropy: bottom } = info.text ?? {}
  const rungs = [top, middle, bottom].filter((value) => value !== undefined && value !== null)
  if (!rungs.length) return []
  const scored = events.filter((event) => event.kind === "eval").map((event) => event.validation_loss)
  const highest = [...columns.loss, ...scored].reduce((most, value) => Math.max(most, value ?? most), Math.max(...rungs))
  const lowest = Math.min(...rungs)
  return [lowest - LABEL_ROOM * (highest - lowest)]
}

function referenceTrace(until, { label, at }, value, writtenValue) {
  if (value === null || value === undefined) return { x: [], y: [], text: [] }
  const x = at === 1 ? [0, until] : [0, at * until, until]
  return { x, y: x.map(() => value), text: ["", fill(label, { value: writtenValue }), ""].slice(0, x.length) }
}

// A mark for each step, rising, so that no label is printed over another.
function placeMarks(steps, last) {
  const taken = MARK_HEIGHTS.map(() => -Infinity)
  const room = MARK_ROOM * last
  return steps.map((step) => {
    const leftwards = step > last - room
    const begin = leftwards ? step - room : step
    const free = taken.findIndex((until) => until <= begin)
    const row = free < 0 ? taken.indexOf(Math.min(...taken)) : free
    taken[row] = Math.max(taken[row], begin + room)
    return { height: MARK_HEIGHTS[row], side: leftwards ? "left" : "right", hasLabel: free >= 0 }
  })
}

function changeTrace(history, trace, axis, until) {
  const changes = multiplierChanges(history)
  const labels = changes.map((ack) => `×${Number(ack.value.toPrecision(6))}`)
  const steps = xOfEvents(history, axis, changes)
  const marks = placeMarks(steps, until)
  const heights = marks.map((mark) => mark.height)
  return {
    x: steps,
    y: heights,
    text: labels.map((label, index) => (marks[index].hasLabel ? label : "")),
    customdata: labels,
    textposition: marks.map((mark) => `middle ${mark.side}`),
    error_y: { ...trace.error_y, array: heights.map(() => 0), arrayminus: heights },
  }
}

function memoryUnit(history, unit) {
  const predicted = Object.values(history.info.prediction?.memory ?? {}).reduce((sum, part) => sum + part, 0)
  const sums = newestOf(history, "memory").map((event) => CATEGORIES.reduce((sum, name) => sum + event[name], 0))
  return axisUnit(sums.reduce((most, sum) => Math.max(most, sum), predicted), unit)
}

function barTrace(history, category, divisor, numBars) {
  const newest = newestOf(history, "memory").at(-1)
  const predicted = history.info.prediction?.memory
  const heights = [newest ? newest[category] / divisor : null, predicted ? (predicted[category] ?? 0) / divisor : null]
  return { y: heights.slice(0, numBars) }
}

function peakTrace(history, label, unit, words) {
  const peak = newestOf(history, "memory").at(-1)?.peak ?? null
  const name = fill(label, { value: memoryFacts(history, unit, words).peak })
  return { y: [peak === null ? null : peak / memoryUnit(history, unit)[0]], name }
}

// What belongs into one trace of a chart: the fields of plotly to overwrite.
function contents(history, trace, { unit, words, axis }, losses, until) {
  const { columns, info } = history
  const { meta } = trace
  const { role, label, category } = meta
  const [divisor] = memoryUnit(history, unit)
  if (role in losses) return losses[role]
  if (role === "multiplier") return changeTrace(history, trace, axis, until)
  if (role === "grad_clip") return referenceTrace(until, meta, info.config?.grad_clip, String(info.config?.grad_clip))
  if (role === "predicted_rate") {
    const rate = predictedTokensPerSecond(info)
    return referenceTrace(until, meta, rate, formatRate(rate ?? 0, words.tokens))
  }
  if (role === "area") {
    const watched = newestOf(history, "memory")
    return { x: xOfEvents(history, axis, watched), y: watched.map((event) => event[category] / divisor) }
  }
  if (role === "bar") return barTrace(history, category, divisor, trace.x.length)
  if (role === "peak") return peakTrace(history, label, unit, words)
  if (role === "resident") {
    const name = fill(label, { value: memoryFacts(history, unit, words).resident_bytes })
    return { ...curve(xOfRecords(history, axis), columns.resident_bytes.map((bytes) => bytes / divisor)), name }
  }
  if (role in columns) return curve(xOfRecords(history, axis), columns[role])
  return referenceTrace(until, meta, info.text?.[role], (info.text?.[role] ?? 0).toFixed(2))
}
