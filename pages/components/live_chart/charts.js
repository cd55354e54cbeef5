// Plotly: one new plot per chart, extendTraces while the run goes on, react for everything else.
// `uirevision` is constant, so neither of them touches the reader's zoom.

const PLOTLY_SETTINGS = { displayModeBar: false, responsive: true }
const EXTENDED = ["training", "smoothed", "learning_rate", "grad_norm", "tokens_per_second", "resident"]

let plotlyLoading = null

function loadPlotly(url) {
  if (window.Plotly) return Promise.resolve(window.Plotly)
  plotlyLoading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.src = url
    script.onload = () => resolve(window.Plotly)
    script.onerror = () => { plotlyLoading = null; reject(new Error(url)) }
    document.head.append(script)
  })
  return plotlyLoading
}

function filled(view, spec) {
  const { history, data } = view
  const elsewhere = onGpu(history) ? "resident" : "peak" // charts.py says why
  const drawn = spec.data.filter((trace) => trace.meta.role !== elsewhere)
  const traces = drawn.map((trace) => ({ ...trace, ...contents(history, trace, data.unit, data.words) }))
  const layout = structuredClone(spec.layout)
  layout.autosize = true
  layout.uirevision = `${layout.meta.name} ${history.run}`
  const until = end(history)
  // Plotly's own range adds room behind the last step.
  if (history.columns.step.length) Object.assign(layout.xaxis, { autorange: false, range: [0, until] })
  else layout.xaxis.autorangeoptions.include = [0, until]
  if (spec.layout.meta.name === "loss") {
    layout.yaxis.autorangeoptions = { include: labelRoom(history) }
    const title = titleOf(view)
    if (title) layout.xaxis.title.text = fill(data.words.step_of, { title })
  }
  if (spec.layout.meta.name === "memory") {
    layout.showlegend = history.columns.step.length > 0 // Plotly gives a legend without entries no width
    layout.yaxis.title.text = fill(onGpu(history) ? data.words.vram_axis : data.words.memory_axis, { unit: memoryUnit(history, data.unit)[1] })
  }
  return [traces, layout]
}

function axesOf(traces) {
  return [...new Set(traces.map((trace) => trace.xaxis ?? "x"))].sort().join()
}

function plotOf(view, name) {
  return view.root.querySelector(`[data-chart="${name}"] .live-plot`)
}

// Draws one chart from the whole history.
async function draw(view, spec) {
  const { name } = spec.layout.meta
  const plot = plotOf(view, name)
  const shown = name === "loss" ? pacedHistory(view) : view.history
  if (name === "loss" || !view.history.loss) {
    view.history.loss = lossTraces(shown)
    view.history.smoothing = shown.smoothing
  }
  const [traces, layout] = filled(view, spec)
  view.drawn[name] = { records: shown.columns.step.length, extended: 0 }
  // An axis that comes or goes, as on the way to a projector, Plotly draws from nowhere to nowhere.
  if (plot.data && axesOf(plot.data) !== axesOf(traces)) window.Plotly.purge(plot)
  await window.Plotly.react(plot, traces, layout, PLOTLY_SETTINGS)
  fitPlot(plot)
}

// Plotly measures its place when it draws; the place may have changed since, or meanwhile.
function fitPlot(plot) {
  const drawn = plot._fullLayout
  if (!drawn || !plot.offsetHeight) return
  if (drawn.height !== plot.clientHeight || drawn.width !== plot.clientWidth) window.Plotly.Plots.resize(plot)
}

// Whether the new records cannot simply be added: another attempt, a gap, or too many points.
function needsRedraw(view, name, kinds) {
  const { records, extended } = view.drawn[name]
  const { step, attempt, loss } = view.history.columns
  if (kinds.has("ack") || (name === "memory" && kinds.has("memory"))) return true
  if (name === "loss" && (kinds.has("eval") || loss.slice(records).includes(null))) return true
  if (extended + step.length - records > 2 * MAX_POINTS) return true
  const isNext = (index) => attempt[index] === attempt[index - 1] && step[index] > step[index - 1]
  for (let index = Math.max(records, 1); index < step.length; index += 1) if (!isNext(index)) return true
  return false
}

function newPoints(view, role, first, last) {
  const { history, data } = view
  const { columns } = history
  const x = columns.step.slice(first, last)
  const tail = (name) => columns[name].slice(first, last)
  if (role === "training") return [x, tail("loss")]
  if (role === "smoothed") return [x, smooth(x, tail("loss"), history.info.config?.num_steps ?? 0, history.smoothing)]
  if (role === "resident") return [x, tail("resident_bytes").map((bytes) => bytes / memoryUnit(history, data.unit)[0])]
  return [x, tail(role)]
}

// Adds to the drawn traces what has come since they were drawn.
function extend(view, spec) {
  const { name } = spec.layout.meta
  const drawn = view.drawn[name]
  const numShown = name === "loss" ? numPaced(view) : view.history.columns.step.length
  const numNew = numShown - drawn.records
  if (numNew <= 0) return undefined
  const plot = plotOf(view, name)
  const traces = plot.data.map((trace, index) => [index, trace.meta.role]).filter(([, role]) => EXTENDED.includes(role))
  const points = traces.map(([, role]) => newPoints(view, role, drawn.records, numShown))
  const update = { x: points.map(([x]) => x), y: points.map(([, y]) => y) }
  view.drawn[name] = { records: drawn.records + numNew, extended: drawn.extended + numNew }
  return window.Plotly.extendTraces(plot, update, traces.map(([index]) => index))
}

// Brings all charts up to date. `whole`: on a snapshot, a new theme, a new language; else only what
// `kinds` of events and new records ask for. Whatever is asked for meanwhile is drawn in one go
// afterwards: a browser that draws slower than the run trains would fall behind for ever.
function refreshCharts(view, { whole, kinds = new Set() }) {
  const { wanted } = view
  view.wanted = { whole: whole || Boolean(wanted?.whole), kinds: new Set([...(wanted?.kinds ?? []), ...kinds]) }
  view.drawing ??= drawWanted(view)
    .catch(() => say(view, ".live-connection", view.data.words.no_plotly))
    .finally(() => { view.drawing = null })
  return view.drawing
}

async function drawWanted(view) {
  await loadPlotly(view.data.plotly_url)
  while (view.wanted) {
    const { whole, kinds } = view.wanted
    view.wanted = null
    for (const spec of view.data.figures) {
      if (view.closed) return
      const { name } = spec.layout.meta
      const redraw = whole || !view.drawn[name] || needsRedraw(view, name, kinds)
      await (redraw ? draw(view, spec) : extend(view, spec))
      if (name === "loss") renderHeadline(view)
      await new Promise((goOn) => { setTimeout(goOn) }) // a button pressed meanwhile comes first
    }
  }
}

async function savePicture(view, name) {
  const Plotly = await loadPlotly(view.data.plotly_url)
  const filename = `${view.history.run ?? "run"}-${name}`
  return Plotly.downloadImage(plotOf(view, name), { format: "png", scale: 2, filename })
}

function resetZoom(view, name) {
  return window.Plotly?.relayout(plotOf(view, name), { "xaxis.range": [0, end(view.history)], "yaxis.autorange": true })
}
