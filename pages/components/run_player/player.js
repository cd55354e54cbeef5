// Plays a finished run from the data in this very file: no server, no network.

const RUN = JSON.parse(document.getElementById("run").textContent)
const PLAY_SECONDS = 20
const DASHES = ["2 3", "8 5", "8 3 2 3"]
const WHOLE = { ...emptyHistory(), run: RUN.run, info: RUN.info, state: RUN.state, events: RUN.events, columns: RUN.columns, totals: RUN.totals }
const view = { root: document.querySelector(".player"), history: WHOLE, data: { unit: RUN.unit, present: false, told: { mark: RUN.run, title: RUN.title, parameters: RUN.parameters } } }
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
  const steps = end(WHOLE)
  const traces = lossTraces(WHOLE)
  const { text = {}, config = {} } = RUN.info
  const common = { steps, stepWord: words.player_steps, write: String }
  const rungs = ["ln_vocab", "unigram_entropy", "bigram_entropy"].map((name, index) => ({
    value: text[name], label: fill(words[`rung_${name}`], { value: text[name]?.toFixed(2) }), dash: DASHES[index], at: 1 - index / 3,
  })).filter(({ value }) => value !== undefined && value !== null)
  const one = (name, meaning, more = {}) => ({ ...common, name, title: words[`title_${name}`], lines: [{ ...curve(RUN.columns.step, RUN.columns[name]), color: color(meaning), width: 1.2 }], ...more })
  return [
    {
      ...common, name: "loss", title: words.title_loss, references: rungs,
      lines: [
        { ...traces.ghost, color: color("muted"), width: 0.8 },
        { ...traces.training, color: `color-mix(in srgb, ${color("training-loss")} 45%, transparent)`, width: 0.8, label: words.name_training },
        { ...traces.smoothed, color: color("training-loss"), width: 2.5, label: words.name_smoothed },
        { ...traces.validation, color: color("validation-loss"), width: 1.5, marks: true, label: words.name_validation },
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
    reveal.push(drawCurves(find(`[data-chart=${chart.name}]`), chart, isMain ? 720 : 420, isMain ? 470 : 230))
  }
  renderTables({ ...view, history: WHOLE })
  find(".live-sample pre").dataset.shown = "other words"
  showStep(Number(find(".player-time").value))
}

function showStep(step) {
  view.history = historyUntil(step)
  find(".player-time").value = step
  say(view, ".player-step", fill(view.data.words.sample_step, { step: formatExact(step) }))
  say(view, ".player-headline", headlineOf(view))
  for (const show of reveal) show(step)
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

find(".player-time").max = end(WHOLE)
find(".player-time").value = find(".player-time").max
find(".player-time").oninput = (event) => { pause(); showStep(Number(event.target.value)) }
find(".player-play").onclick = togglePlay
find(".player-language").onclick = () => { language = language === "en" ? "zh" : "en"; renderWords(); pause() }
find(".live-sample input").oninput = (event) => { event.target.dataset.touched = "yes"; renderSample(view) }
find("details").ontoggle = () => renderTables({ ...view, history: WHOLE })
listenToSample(view)
renderWords()
pause()
