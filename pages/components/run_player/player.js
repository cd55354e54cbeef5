// Plays a finished run from the data in this very file: no server, no network.

const RUN = JSON.parse(document.getElementById("run").textContent)
const PLAY_SECONDS = 20
const DASHES = ["2 3", "8 5", "8 3 2 3"]
const WHOLE = { ...emptyHistory(), run: RUN.run, info: RUN.info, state: RUN.state, events: RUN.events, columns: RUN.columns, totals: RUN.totals }
const view = { root: document.querySelector(".player"), history: WHOLE, moment: WHOLE, data: { unit: RUN.unit, present: false, axis: "step", smoothing: 1, told: { mark: RUN.run, title: RUN.title, parameters: RUN.parameters } } }
const BESIDE = RUN.beside.map((other) => ({ ...other, history: { ...emptyHistory(), ...other } }))
const find = (selector) => view.root.querySelector(selector)
const reveal = []
let language = RUN.language
let began = null // performance.now() of a replay's first step

// The run as it was after one step; nothing is computed between two steps.
function historyUntil(step) {
  const count = RUN.columns.step.findLastIndex((each) => each <= step) + 1
  const columns = Object.fromEntries(Object.entries(RUN.columns).map(([name, values]) => [name, values.slice(0, count)]))
  return { ...WHOLE, columns, events: RUN.events.filter((event) => event.step <= step) }
}

function color(meaning) {
  return `var(--b2g-${meaning})`
}

function charts(words) {
  const steps = Math.max(endOf(WHOLE, "step"), ...BESIDE.map(({ history }) => endOf(history, "step")))
  const traces = lossTraces(WHOLE, "step", 1)
  const others = BESIDE.flatMap(({ history, color: meaning, dash }) => {
    const { smoothed, validation } = lossTraces(history, "step", 1)
    const style = { color: color(meaning), width: 2, dash }
    return [{ ...smoothed, ...style }, { ...validation, ...style, width: 0, marks: true }]
  })
  const { text = {}, config = {} } = RUN.info
  const common = { steps: endOf(WHOLE, "step"), stepWord: words.player_steps, write: String }
  const rungs = ["ln_vocab", "unigram_entropy", "bigram_entropy"].map((name, index) => ({
    value: text[name], label: fill(words[`rung_${name}`], { value: text[name]?.toFixed(2) }), dash: DASHES[index], at: (index + 1) / 3,
  })).filter(({ value }) => value !== undefined && value !== null)
  const one = (name, meaning, more = {}) => ({ ...common, name, title: words[`title_${name}`], lines: [{ ...curve(RUN.columns.step, RUN.columns[name]), color: color(meaning), width: 1.2 }], ...more })
  return [
    {
      ...common, steps, name: "loss", title: words.title_loss, references: rungs,
      lines: [
        { ...traces.ghost, color: color("muted"), width: 0.8 },
        { ...traces.training, color: `color-mix(in srgb, ${color("training-loss")} 45%, transparent)`, width: 0.8, label: words.name_training },
        { ...traces.smoothed, color: color("training-loss"), width: 2.5, label: words.name_smoothed },
        { ...traces.validation, color: color("validation-loss"), width: 1.5, marks: true, label: words.name_validation },
        ...others,
      ],
    },
    one("learning_rate", "learning-rate", { write: (value) => (value ? value.toExponential() : "0") }),
    one("grad_norm", "gradient-norm", { isLog: true, references: config.grad_clip ? [{ value: config.grad_clip, label: fill(words.clipped, { value: config.grad_clip }), dash: "8 5", at: 1 }] : [] }),
    one("tokens_per_second", "throughput", { write: (value) => (value < 1000 ? String(value) : `${value / 1000} k`) }),
  ]
}

function renderWords() {
  view.data.words = RUN.words[language]
  const { words } = view.data
  document.documentElement.lang = language
  document.title = `${RUN.titles[language]} · Bits to GPT`
  view.data.told.title = RUN.titles[language]
  applyWords(view)
  say(view, ".player-language", words.player_other_language)
  const leftOut = RUN.num_damaged ? fill(words.player_left_out, { count: formatExact(RUN.num_damaged) }) : ""
  say(view, ".player-about", [RUN.titles[language], RUN.made, statusLine({ ...view, history: WHOLE }), outcome(WHOLE, RUN.unit, words), leftOut, words.player_about].filter(Boolean).join(" · "))
  reveal.length = 0
  for (const chart of charts(words)) {
    const isMain = chart.name === "loss"
    reveal.push(drawCurves(find(isMain ? "[data-chart=loss] div" : `[data-chart=${chart.name}]`), chart, isMain ? 720 : 420, isMain ? 470 : 230))
  }
  renderTables({ ...view, moment: WHOLE })
  nameBeside()
  find(".live-sample pre").dataset.shown = "other words"
  showStep(Number(find(".player-time").value))
}

// Which line is which of the other runs.
function nameBeside() {
  find(".player-beside").replaceChildren(...BESIDE.map(({ name, color: meaning, dash }) => {
    const line = node("svg", { viewBox: "0 0 28 8", "aria-hidden": "true" })
    line.append(node("line", { x1: 0, x2: 28, y1: 4, y2: 4, style: `stroke: ${color(meaning)}`, "stroke-width": 2, "stroke-dasharray": dash }))
    const label = document.createElement("span")
    label.append(line, name)
    return label
  }))
}

// What was measured last, beside what had been predicted.
function renderMemory() {
  const { words } = view.data
  const bar = (title, held, isHollow) => {
    const parts = CATEGORIES.map((name) => held?.[name] ?? 0)
    return { title, parts, isHollow, sum: formatBytes(parts.reduce((sum, part) => sum + part, 0), RUN.unit) }
  }
  const held = [bar(words.measured, newestOf(view.history, "memory").at(-1), false)]
  const predicted = RUN.info.prediction?.memory
  drawBars(find("[data-chart=memory]"), {
    title: memoryWord(WHOLE, words), names: CATEGORIES.map((name) => words[`part_${name}`]), colors: CATEGORIES.map(color),
    bars: predicted ? [...held, bar(words.predicted, predicted, true)] : held,
  }, 420, 230)
}

function showStep(step) {
  view.history = view.moment = historyUntil(step)
  find(".player-time").value = step
  say(view, ".player-step", fill(view.data.words.sample_step, { step: formatExact(step) }))
  say(view, ".player-headline", headlineOf(view))
  for (const show of reveal) show(step)
  renderMemory()
  renderSample(view)
}

function play(now) {
  if (began === null) return
  const [steps, last] = [RUN.columns.step, RUN.columns.step.length - 1]
  const passed = Math.max(now - began, 0) // a frame may have begun before the click that it answers
  const part = Math.min(passed / 1000 / PLAY_SECONDS, 1)
  showStep(steps[Math.floor(part * last)])
  if (part < 1) requestAnimationFrame(play)
  else pause()
}

function pause() {
  began = null
  say(view, ".player-play", view.data.words.player_play)
}

function togglePlay() {
  if (began !== null) { pause(); return }
  began = performance.now()
  delete find(".live-sample input").dataset.touched
  say(view, ".player-play", view.data.words.player_pause)
  requestAnimationFrame(play)
}

find(".player-time").max = endOf(WHOLE, "step")
find(".player-time").value = find(".player-time").max
find(".player-time").oninput = (event) => { pause(); showStep(Number(event.target.value)) }
find(".player-play").onclick = togglePlay
find(".player-language").onclick = () => { language = language === "en" ? "zh" : "en"; renderWords(); pause() }
find(".live-sample input").oninput = (event) => { event.target.dataset.touched = "yes"; renderSample(view) }
find("details").ontoggle = () => renderTables({ ...view, moment: WHOLE })
listenToSample(view)
renderWords()
pause()
