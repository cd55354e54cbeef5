// Other runs in the picture of the shown one: each has a colour, a dash and a mark of its own.

const LOOK_BESIDE_MS = 3000

// What is known of a run that stays beside the shown one is kept; only its name may be another.
function followBeside(view) {
  const told = JSON.stringify(view.data.beside)
  if (told === (view.toldBeside ?? "[]")) return
  view.toldBeside = told
  const known = Object.fromEntries(view.beside.map(({ run, history }) => [run, history]))
  view.beside = view.data.beside.map(({ run, name }) => ({ run, name, history: known[run] ?? null, gone: false }))
  askBeside(view)
}

// Asks for the curves of those that have not ended, and asks again as long as there are any.
async function askBeside(view) {
  clearTimeout(view.asksBeside)
  const asked = view.beside
  const growing = () => asked.filter(({ history, gone }) => !gone && !FINAL_STATES.includes(history?.state?.state))
  await Promise.all(growing().map(async (each) => {
    const answer = await fetch(`/live/curves.json?run=${encodeURIComponent(each.run)}`).catch(() => null)
    each.gone = answer?.status === 404
    if (!answer?.ok) return
    const history = emptyHistory()
    append(history, await answer.json())
    each.history = history
  }))
  if (view.closed || view.beside !== asked) return
  refreshCharts(view, { whole: false })
  if (growing().length) view.asksBeside = setTimeout(() => askBeside(view), LOOK_BESIDE_MS)
}

function besideMark({ beside, moment, data }) {
  const inReplay = data.speed && beside.length ? moment.columns.step.length : ""
  return JSON.stringify([inReplay, ...beside.map(({ name, history }) => [name, history?.columns.step.length])])
}

function lastX(history, axis) {
  return xOfRecords(history, axis).reduce((most, x) => Math.max(most, x), 0)
}

// Where the loss axis ends: at the longest run. A replay is a race: nobody is ahead of its clock.
function lossEnd({ beside, moment, data }) {
  const others = data.speed ? [] : beside.filter(({ history }) => history).map(({ history }) => lastX(history, data.axis))
  return Math.max(endOf(moment, data.axis), ...others)
}

function besideTraces({ beside, moment, data }, lines) {
  const until = data.speed ? lastX(moment, data.axis) : Infinity
  const shown = ({ x, y }) => ({ x: x.filter((each) => each <= until), y: y.filter((_each, index) => x[index] <= until) })
  return beside.flatMap(({ run, name, history }, index) => {
    if (!history) return []
    const { color, dash, symbol } = lines[index]
    const { smoothed, validation } = lossTraces(history, data.axis, data.smoothing)
    const style = { type: "scatter", name, legendgroup: run, hovertemplate: "%{x}: %{y:.3f}<extra>%{fullData.name}</extra>" }
    return [
      { ...style, ...shown(smoothed), mode: "lines", line: { color, dash, width: 2 }, meta: { role: "beside", run } },
      { ...style, ...shown(validation), mode: "markers", marker: { color, symbol, size: 8 }, showlegend: false, meta: { role: "beside_validation", run } },
    ]
  })
}
