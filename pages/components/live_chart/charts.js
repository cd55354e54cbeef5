// Plotly: one new plot per chart, extendTraces while the run goes on, react for everything else.
// As long as `uirevision` is the same, neither of them touches the reader's zoom.

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

// Where the axis is to end. Plotly keeps a reader's zoom only as long as it is told the same as before.
function keptEnd(view, { uirevision, meta }, until) {
  const { layout } = plotOf(view, meta.name)
  const given = view.given[meta.name]
  const isZoomed = given?.uirevision === uirevision && layout?.xaxis.range?.[1] !== given.until
  if (!isZoomed) view.given[meta.name] = { uirevision, until }
  return view.given[meta.name].until
}

// The x-axis is called by what it counts, and for whom.
function axisTitle({ moment, data }) {
  const { words } = data
  const counted = words[`axis_${axisIn(moment, data.axis)}`]
  const title = titleOf({ history: moment, data })
  return title ? fill(words.axis_of, { counted, title }) : counted
}

function filled(view, spec) {
  const { moment, data } = view
  const { name } = spec.layout.meta
  const elsewhere = onGpu(moment) ? "resident" : "peak" // charts.py says why
  const drawn = spec.data.filter((trace) => trace.meta.role !== elsewhere)
  const until = name === "loss" ? lossEnd(view) : endOf(moment, data.axis)
  const traces = drawn.map((trace) => ({ ...trace, ...contents(moment, trace, data, view.losses, until) }))
  const layout = structuredClone(spec.layout)
  layout.autosize = true
  layout.uirevision = [name, moment.run, data.axis, data.log_loss, view.resets[name]].join(" ")
  // Plotly's own range adds room behind the last step.
  if (moment.columns.step.length) Object.assign(layout.xaxis, { autorange: false, range: [0, keptEnd(view, layout, until)] })
  else layout.xaxis.autorangeoptions.include = [0, until]
  if (name !== "memory") layout.xaxis.title.text = name === "loss" ? axisTitle(view) : data.words[`axis_${axisIn(moment, data.axis)}`]
  if (name === "loss") {
    if (isWatched(moment)) layout.yaxis.title.text = data.words.loss_of_loop
    if (data.log_loss) layout.yaxis.type = "log"
    else layout.yaxis.autorangeoptions = { include: labelRoom(moment) }
    traces.push(...besideTraces(view, layout.meta.lines))
  }
  if (name === "memory") {
    // A legend without entries has no width for Plotly; and one that comes before the axis has data pushes
    // an axis that has no place yet: its line goes from NaN to NaN.
    layout.showlegend &&= moment.columns.step.length > 0 && eventsOf(moment, "memory").length > 0
    layout.yaxis.title.text = fill(onGpu(moment) ? data.words.vram_axis : data.words.memory_axis, { unit: memoryUnit(moment, data.unit)[1] })
    labelBars(layout, moment, data, plotOf(view, name).clientHeight)
  }
  return [traces, layout]
}

function axesOf(traces, layout) {
  const inLayout = Object.keys(layout).filter((name) => /^[xy]axis/.test(name))
  return [...new Set([...traces.map((trace) => trace.xaxis ?? "x"), ...inLayout])].sort().join()
}

function plotOf(view, name) {
  return view.root.querySelector(`[data-chart="${name}"] .live-plot`)
}

// Draws one chart from the whole moment.
async function draw(view, spec) {
  const { name } = spec.layout.meta
  const plot = plotOf(view, name)
  const { moment, data } = view
  if (name === "loss" || !view.losses) view.losses = lossTraces(moment, data.axis, data.smoothing)
  const [traces, layout] = filled(view, spec)
  view.drawn[name] = { records: moment.columns.step.length, extended: 0, marks: marksOf(view, name) }
  // An axis that comes or goes, as on the way to a projector, Plotly draws from nowhere to nowhere.
  if (plot.data && axesOf(plot.data, plot.layout) !== axesOf(traces, layout)) window.Plotly.purge(plot)
  await window.Plotly.react(plot, traces, layout, PLOTLY_SETTINGS)
  fitPlot(plot)
}

// What cannot simply be added to a chart when it changes: where the axis ends, changes of the rate ...
function marksOf(view, name) {
  const { moment, data } = view
  const changes = [endOf(moment, data.axis), multiplierChanges(moment).length]
  // Its labels stand apart by what room there is.
  if (name === "memory") changes.push(eventsOf(moment, "memory").length, plotOf(view, name).clientHeight)
  if (name === "loss") changes.push(eventsOf(moment, "eval").length, besideMark(view))
  return changes.join()
}

// Plotly measures its place when it draws; the place may have changed since, or meanwhile.
function fitPlot(plot) {
  const drawn = plot._fullLayout
  if (!drawn || !plot.offsetHeight) return
  if (drawn.height !== plot.clientHeight || drawn.width !== plot.clientWidth) window.Plotly.Plots.resize(plot)
}

// Whether the new records cannot simply be added: another attempt, a gap, or too many points.
function needsRedraw(view, name) {
  const { records, extended, marks } = view.drawn[name]
  const { step, attempt, loss } = view.moment.columns
  if (marks !== marksOf(view, name) || records > step.length) return true
  if (name === "loss" && loss.slice(records).includes(null)) return true
  if (extended + step.length - records > 2 * MAX_POINTS) return true
  const isNext = (index) => attempt[index] === attempt[index - 1] && step[index] > step[index - 1]
  for (let index = Math.max(records, 1); index < step.length; index += 1) if (!isNext(index)) return true
  return false
}

function newPoints(view, role, first) {
  const { moment, data, losses } = view
  const { columns, info } = moment
  const x = xOfRecords(moment, data.axis).slice(first)
  const tail = (name) => columns[name].slice(first)
  if (role === "training") return [x, tail("loss")]
  if (role === "smoothed") return [x, smooth(tail("step"), tail("loss"), info.config?.num_steps ?? Infinity, losses.smoothing, data.smoothing)]
  if (role === "resident") return [x, tail("resident_bytes").map((bytes) => bytes / memoryUnit(moment, data.unit)[0])]
  return [x, tail(role)]
}

// Adds to the drawn traces what has come since they were drawn.
function extend(view, spec) {
  const { name } = spec.layout.meta
  const drawn = view.drawn[name]
  const numShown = view.moment.columns.step.length
  const numNew = numShown - drawn.records
  if (numNew <= 0) return undefined
  const plot = plotOf(view, name)
  const traces = plot.data.map((trace, index) => [index, trace.meta.role]).filter(([, role]) => EXTENDED.includes(role))
  const points = traces.map(([, role]) => newPoints(view, role, drawn.records))
  const update = { x: points.map(([x]) => x), y: points.map(([, y]) => y) }
  view.drawn[name] = { ...drawn, records: numShown, extended: drawn.extended + numNew }
  return window.Plotly.extendTraces(plot, update, traces.map(([index]) => index))
}

// Brings everything up to date. `whole`: on a snapshot, a new theme, a new language; else only what
// new records and events ask for. Whatever is asked for meanwhile is drawn in one go afterwards: a
// browser that draws slower than the run trains would fall behind for ever.
function refreshCharts(view, { whole }) {
  view.wanted = { whole: whole || Boolean(view.wanted?.whole) }
  if (!window.Plotly) tellMoment(view) // the words need not wait for the library
  view.drawing ??= drawWanted(view)
    .catch(() => {
      tellMoment(view)
      say(view, ".live-connection", view.data.words.no_plotly)
    })
    .finally(() => { view.drawing = null })
  return view.drawing
}

// The curve, and in the same breath all that is told beside it: one moment of the run.
async function drawWanted(view) {
  await loadPlotly(view.data.plotly_url)
  while (view.wanted) {
    const { whole } = view.wanted
    view.wanted = null
    const count = numPaced(view)
    const isWhole = count === view.history.columns.step.length
    view.moment = momentOf(view.history, count)
    for (const spec of view.data.figures) {
      if (view.closed) return
      const { name } = spec.layout.meta
      if (!isWhole && !["loss", "memory"].includes(name) && view.drawn[name] && !whole) continue // below the screen
      const drawing = whole || !view.drawn[name] || needsRedraw(view, name) ? draw(view, spec) : extend(view, spec)
      if (name === "loss") renderPanels(view)
      await drawing
      await new Promise((goOn) => { setTimeout(goOn) }) // a button pressed meanwhile comes first
    }
  }
}

function tellMoment(view) {
  view.moment = momentOf(view.history, Infinity)
  renderPanels(view)
}

async function savePicture(view, name) {
  const Plotly = await loadPlotly(view.data.plotly_url)
  const filename = `${view.history.run ?? "run"}-${name}`
  return Plotly.downloadImage(plotOf(view, name), { format: "png", scale: 2, filename })
}

function resetZoom(view, name) {
  view.resets[name] = (view.resets[name] ?? 0) + 1
  return refreshCharts(view, { whole: true })
}
