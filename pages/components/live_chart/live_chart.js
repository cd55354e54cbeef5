// The live run in the browser: one connection for the life of the page, kept across reruns of the
// script, a new theme, a new language, and Streamlit's own unmounting and mounting again.

const VIEWS = (window[Symbol.for("bits-to-gpt.live")] ??= new Map())
const RETRY_MS = 3000
const GRACE_MS = 1500

function connect(view) {
  if (view.data.run === "none") return startOver(view, null) // what Train would begin
  const speed = view.data.speed ? `&speed=${view.data.speed}` : ""
  const { recording } = view.data.told
  const elsewhere = recording ? `?recording=${encodeURIComponent(recording)}` : ""
  const query = view.data.run ? `?run=${encodeURIComponent(view.data.run)}${speed}` : elsewhere
  const source = new EventSource(`/live/stream${query}`)
  view.source = source
  view.numConnections = (view.numConnections ?? 0) + 1
  source.onopen = () => say(view, ".live-connection", "")
  source.onerror = () => {
    say(view, ".live-connection", view.data.words.reconnecting)
    // A refusal (too many readers) closes for good: ask again ourselves.
    if (source.readyState === EventSource.CLOSED) view.retry = setTimeout(() => connect(view), RETRY_MS)
  }
  const on = (name, handle) => source.addEventListener(name, (event) => handle(view, JSON.parse(event.data)))
  on("snapshot", onSnapshot)
  on("update", onUpdate)
  on("empty", (it) => startOver(it, null))
  on("missing", (it, message) => startOver(it, message.run))
}

function startOver(view, missing) {
  view.missing = missing
  view.history = emptyHistory()
  renderAll(view)
}

function onSnapshot(view, message) {
  view.missing = null
  if (message.run !== view.history.run) view.sent = undefined
  view.pace = null
  view.history = { ...emptyHistory(), run: message.run }
  append(view.history, message)
  askToTell(view)
  renderAll(view)
}

// What stands above the charts is the script's: it learns of a run that somebody else has started,
// and of the end of one. A script at work is not disturbed: it may be starting a run.
function askToTell(view) {
  if (document.querySelector("[data-test-script-state='running']")) {
    clearTimeout(view.asking)
    view.asking = setTimeout(() => askToTell(view), RETRY_MS)
    return
  }
  const { run, state } = view.history
  if (isRecorded(view.history) || view.data.speed) return // nothing in it is news
  const seen = FINAL_STATES.includes(state?.state) ? `${run} ended` : run
  if (seen === view.data.told.mark || seen === view.askedToTell) return
  view.askedToTell = seen
  view.trigger("shown", seen)
}

function onUpdate(view, message) {
  if (message.run !== view.history.run) return
  const shown = numPaced(view)
  append(view.history, message)
  startPace(view, shown)
  askToTell(view)
  renderControls(view)
  refreshCharts(view, { whole: false })
}

function renderAll(view) {
  applyWords(view)
  renderSurprise(view)
  renderControls(view)
  refreshCharts(view, { whole: true })
}

function newView(data, skeleton) {
  const history = emptyHistory()
  const view = { data, history, moment: momentOf(history, 0), beside: [], drawn: {}, given: {}, resets: {}, root: skeleton.content.firstElementChild.cloneNode(true) }
  for (const figure of view.root.querySelectorAll("[data-chart]")) addChartButtons(view, figure)
  listenToControls(view)
  listenToSample(view)
  listenToKeys(view)
  view.root.says = (poster) => posterSays(view, poster)
  watchSizes(view)
  return view
}

function addChartButtons(view, figure) {
  const bar = document.createElement("div")
  bar.className = "live-chart-buttons"
  for (const [word, action] of [["reset_zoom", resetZoom], ["save_png", savePicture]]) {
    const button = document.createElement("button")
    button.type = "button"
    button.dataset.word = word
    button.onclick = () => action(view, figure.dataset.chart)
    bar.append(button)
  }
  figure.append(bar)
}

// The page above may grow and shrink, and Plotly must be told when its place does.
function watchSizes(view) {
  view.onResize = () => fitHeight(view)
  window.addEventListener("resize", view.onResize)
  view.layoutObserver = new ResizeObserver(view.onResize)
  view.plotObserver = new ResizeObserver((entries) => {
    for (const { target } of entries) fitPlot(target)
    if (view.drawn.memory) refreshCharts(view, { whole: false })
  })
  view.root.querySelectorAll(".live-plot").forEach((plot) => view.plotObserver.observe(plot))
}

// The headline fills what the window leaves below the control bar.
function fitHeight(view) {
  const grid = view.root.querySelector(".live-grid")
  const scroller = view.root.closest('[data-testid="stMain"]') ?? document.documentElement
  const top = grid.getBoundingClientRect().top + scroller.scrollTop
  const height = Math.min(Math.max(window.innerHeight - top - 8, 300), 640)
  if (view.root.isConnected) view.root.style.setProperty("--live-height", `${Math.round(height)}px`)
}

function close(view, key) {
  view.closed = true
  clearTimeout(view.retry)
  clearTimeout(view.asking)
  clearInterval(view.pacing)
  clearTimeout(view.asksBeside)
  view.source?.close()
  document.removeEventListener("keydown", view.onKey)
  window.removeEventListener("resize", view.onResize)
  view.headObserver?.disconnect()
  view.layoutObserver.disconnect()
  view.plotObserver.disconnect()
  view.root.querySelectorAll(".live-plot").forEach((plot) => window.Plotly?.purge(plot))
  if (VIEWS.get(key) === view) VIEWS.delete(key)
}

// What changes a picture; a rerun that changes none of it draws nothing.
function lookOf(data) {
  return JSON.stringify([data.figures, data.words, data.unit, data.present, data.axis, data.log_loss, data.smoothing])
}

// Streamlit changes its colours in the browser, without a rerun of the script.
function figuresInForce(data, parentElement) {
  const background = getComputedStyle(parentElement).getPropertyValue("--st-background-color").trim()
  return data.figures[background.toLowerCase() === data.dark_background ? "dark" : "light"]
}

export default function ({ data: sent, parentElement, setTriggerValue }) {
  const data = { ...sent, figures: figuresInForce(sent, parentElement) }
  const { key } = data
  const isNew = !VIEWS.has(key)
  if (isNew) VIEWS.set(key, newView(data, parentElement.querySelector(".live-skeleton")))
  const view = VIEWS.get(key)
  const before = view.data
  view.data = data
  view.trigger = setTriggerValue
  view.root.classList.toggle("live-present", data.present)
  const slot = parentElement.querySelector(".live-slot")
  if (view.root.parentElement !== slot) {
    slot.replaceChildren(view.root)
    view.layoutObserver.disconnect()
    view.layoutObserver.observe(slot.closest('[data-testid="stMainBlockContainer"]') ?? document.body)
  }
  fitHeight(view)
  followBeside(view)
  // When a run begins, the stream goes on with it by itself: its connection is kept.
  const otherRecording = data.told.recording && before.told.recording !== data.told.recording
  if (isNew || before.run !== data.run || before.speed !== data.speed || otherRecording) {
    view.source?.close()
    clearTimeout(view.retry)
    if (!isNew) view.history = emptyHistory()
    connect(view)
    renderAll(view)
  } else if (lookOf(before) !== lookOf(data)) renderAll(view)
  else renderPanels(view)
  return () => setTimeout(() => { if (!view.root.isConnected) close(view, key) }, GRACE_MS)
}

// For tests, which compare them with recorded numbers.
window[Symbol.for("bits-to-gpt.arithmetic")] = { formatBytes, formatCount, formatFlopsPerSecond, formatPercent, formatSeconds, mfu, smooth, secondsPerStep, ownPace, secondsLeft, decimated, labelRoom, shade, meanSurprise, outcome, trainingClock, endOf, momentOf }
