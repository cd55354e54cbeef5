// Where a record or an event lies on the horizontal axis: by step, training seconds, tokens or FLOPs.

// While a run trains its axis has room for what comes; it grows in leaps, for each is a new drawing.
const ROOM = 1.05
const LEAP = 1.25

// The stretches of time in which a run did not train: paused, or between two of its processes.
function waitsOf({ events, columns }) {
  const waits = []
  let since = null
  let hasBegun = false
  for (const { kind, state, time } of events) {
    if (kind !== "state" || !time) continue
    if (state !== "running") { since ??= time; continue }
    // A process that was killed wrote no state: it trained until its last record.
    since ??= hasBegun ? columns.time.findLast((each) => each <= time) ?? null : null
    if (since !== null && hasBegun) waits.push([since, time])
    since = null
    hasBegun = true
  }
  return waits
}

function waitedUntil(waits, time) {
  return waits.reduce((sum, [from, to]) => sum + Math.max(Math.min(to, time) - from, 0), 0)
}

// Returns what turns a time of the clock into seconds of training.
function trainingClock(history) {
  const { events, columns } = history
  const began = events.find(({ kind, state, time }) => kind === "state" && state === "running" && time)?.time ?? columns.time[0] ?? 0
  const waits = waitsOf(history)
  return (time) => Math.max(time - began - waitedUntil(waits, time), 0)
}

function flopsPerStep({ info }) {
  return info.prediction?.flops_per_step ?? null
}

// The axis that was asked for; a run of which nobody counted the FLOPs or the tokens has its steps.
function axisIn(history, wanted) {
  if (wanted === "tokens" && isWatched(history) && !tokensPerStep(history.info)) return "step"
  return wanted === "flops" && !flopsPerStep(history) ? "step" : wanted
}

function perStep(history, axis) {
  if (axis === "tokens") return tokensPerStep(history.info)
  return axis === "flops" ? flopsPerStep(history) : 1
}

function xOfRecords(history, wanted) {
  const { step, time } = history.columns
  const axis = axisIn(history, wanted)
  if (axis === "step") return step
  if (axis === "seconds") return time.map(trainingClock(history))
  const each = perStep(history, axis)
  return step.map((number) => number * each)
}

function xOfEvents(history, wanted, events) {
  const axis = axisIn(history, wanted)
  if (axis === "seconds") {
    const trained = trainingClock(history)
    return events.map(({ time }) => (time ? trained(time) : 0))
  }
  const each = perStep(history, axis)
  return events.map(({ step }) => step * each)
}

// Where the axis ends: at what was done, once the run is over; else a little behind it.
function endOf(history, wanted) {
  const axis = axisIn(history, wanted)
  const { config } = history.info
  const planned = axis === "seconds" ? config?.max_seconds ?? 1 : (config?.num_steps ?? 0) * (config ? perStep(history, axis) : 1)
  const last = xOfRecords(history, wanted).reduce((most, x) => Math.max(most, x), 0)
  if (!last) return planned
  if (FINAL_STATES.includes(history.state?.state)) return last
  const grown = Math.ceil(LEAP ** Math.ceil(Math.log(last * ROOM) / Math.log(LEAP)))
  return axis === "seconds" ? grown : Math.max(last, Math.min(grown, planned || grown))
}

// The run as it was after its first `count` records: nothing on the page knows more than the curve.
// A copy, for what comes meanwhile is added to the run in place.
function momentOf(history, count) {
  const { columns, events } = history
  const isNow = count >= columns.step.length
  const next = columns.time[count]
  return {
    ...history,
    columns: Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.slice(0, count)])),
    events: isNow ? [...events] : events.filter(({ time }) => !(time >= next)),
    state: isNow ? history.state : history.before,
  }
}
