// Everything that is not a chart: status, commands, samples, tables, alt texts.

const FINAL_STATES = ["stopped", "finished", "failed", "crashed"]
const ANNOUNCE_MS = 5000

function applyWords(view) {
  const { words } = view.data
  view.root.querySelectorAll("[data-word]").forEach((element) => { element.textContent = words[element.dataset.word] })
  view.root.querySelectorAll("[data-label]").forEach((element) => element.setAttribute("aria-label", words[element.dataset.label]))
  view.root.querySelectorAll("[data-title]").forEach((element) => { element.title = words[element.dataset.title] })
}

// The sentence for a final or broken state; running states need none.
function stateSentence({ history, data }) {
  const { words } = data
  if (hasNoRun(history)) return data.told.recording ? "" : words.empty
  if (isRecorded(history)) return data.told.recorded
  const { state, reason } = history.state ?? {}
  const said = reasonSentence(history.state ?? {}, data)
  if (reason === "queued") return said
  if (isWatched(history) && state === "starting") return ""
  if (isWatched(history) && state === "stopped") return fill(words.sentence_left, facts(history, data.unit, words))
  return fill(words[`sentence_${state}`] ?? "{reason}", { ...facts(history, data.unit, words), reason: said })
}

// What the worker said, in the reader's language and with its numbers: core/train/run/state.py.
function reasonSentence({ reason, message, values: numbers }, { words, unit }) {
  const template = words[`message ${message}`]
  if (!template) return words[`reason_${reason}`] ?? (message || reason || "")
  const written = Object.entries(numbers ?? {}).map(([name, value]) => [name, name.endsWith("_bytes") ? formatBytes(value, unit) : value])
  const others = numbers?.others === undefined ? "" : ` ${words.others_on_the_gpu}`
  return fill(template + others, Object.fromEntries(written))
}

function hasNoRun(history) {
  return history.run === null
}

function statusLine({ history, data }) {
  const { words } = data
  if (hasNoRun(history)) return ""
  const left = remaining(history)
  const { state } = history.state ?? {}
  const values = { ...facts(history, data.unit, words), left: left === null ? MISSING : formatSeconds(left, words) }
  if (FINAL_STATES.includes(state)) return fill(words.status_ended, values)
  if (isRecorded(history)) return fill(words.status, values)
  const going = ["starting", "running"].includes(state) && left !== null // of a pause nobody knows the end
  return fill(going ? words.status_running : words.status, values)
}

// The script's sentence stands until the first step; from then on loss and step do, at the pace of
// the stream, and never ahead of the curve. React leaves the text alone as long as its own sentence
// stays the same.
function renderHeadline(view) {
  view.path ??= location.pathname // what leads to another page leaves us there until that page is whole
  if (location.pathname !== view.path) return
  const line = document.querySelector(".st-key-headline p")
  const sentence = headlineOf({ data: view.data, history: view.moment })
  if (line && line.textContent !== sentence) line.textContent = sentence
  // A rerun of the script may bring its sentence again, or another line: ours is there before it is seen.
  // The block it stands in may come anew too: what is watched is the page around both.
  const head = document.querySelector('[data-testid="stMainBlockContainer"]')
  if (!head || head === view.watchedHead) return
  view.watchedHead = head
  view.headObserver?.disconnect()
  view.headObserver = new MutationObserver(() => renderHeadline(view))
  view.headObserver.observe(head, { childList: true, characterData: true, subtree: true })
}

function headlineOf({ data, history }) {
  const { words, told } = data
  if (told.waits) return words.headline_waits
  if (!history.columns.step.length) return told.headline
  if (isRecorded(history)) return fill(data.present ? words.headline_recorded_present : words.headline_recorded, facts(history, data.unit, words))
  const isTold = told.mark.split(" ")[0] === history.run && told.parameters
  const template = data.present ? words.headline_present : !history.info.config?.num_steps ? words.headline_open : isTold ? words.headline : words.headline_plain
  return fill(template, { ...facts(history, data.unit, words), parameters: told.parameters })
}

function titleOf({ history, data }) {
  if (isRecorded(history)) return data.told.title
  return data.told.mark.split(" ")[0] === history.run ? data.told.title : history.info.config?.name ?? ""
}

function renderStatus(view) {
  const { moment: history, data } = view
  const state = isRecorded(history) ? "recorded" : history.state?.state ?? "none"
  view.root.dataset.state = state
  say(view, ".live-state", data.words[`state_${(isWatched(history) && WATCHED_STATES[state]) || state}`] ?? state)
  say(view, ".live-progress", statusLine({ history, data }))
  say(view, ".live-outcome", history.state?.state === "finished" ? outcome(history, data.unit, data.words) : "")
  say(view, ".live-message", view.missing ? fill(data.words.missing, { run: view.missing }) : stateSentence({ history, data }))
}

function renderSample(view) {
  const { moment: history, data } = view
  const samples = eventsOf(history, "sample")
  const slider = view.root.querySelector(".live-sample input")
  const follows = !slider.dataset.touched || Number(slider.value) === Number(slider.max)
  slider.max = Math.max(samples.length - 1, 0)
  slider.disabled = samples.length < 2
  if (follows) slider.value = slider.max
  const sample = samples[Number(slider.value)]
  const label = sample ? fill(data.words.sample_step, { step: formatExact(sample.step) }) : data.words.sample_none
  say(view, ".live-sample output", label)
  slider.setAttribute("aria-valuetext", label)
  writeSample(view, sample)
  const text = history.info.text
  const evaluation = newestOf(history, "eval").at(-1)
  say(view, ".live-learnt", text ? learningSentence(evaluation?.validation_loss, text, data.words) : "")
  say(view, ".live-real-words", sample ? wordSentence(sample.num_words, sample.num_real_words, data.words) : "")
}

function tableOf(caption, rows) {
  const table = document.createElement("table")
  table.createCaption().textContent = caption
  for (const [heading, ...cells] of rows) {
    const row = table.insertRow()
    const th = document.createElement("th")
    th.scope = "row"
    th.textContent = heading
    row.append(th)
    for (const cell of cells) row.insertCell().textContent = cell
  }
  return table
}

// The table twin is written only while it is open.
function renderTables(view) {
  const details = view.root.querySelector("details")
  if (!details.open) return
  const { moment: history, data } = view
  const memory = memoryWord(history, data.words)
  const known = Object.entries(facts(history, data.unit, data.words))
  const wordOf = (name) => (isWatched(history) && data.words[`fact_${name}_plain`]) || data.words[`fact_${name}`]
  const now = known.map(([name, value]) => [fill(wordOf(name), { memory }), value])
  const evaluations = newestOf(history, "eval").map((e) => [formatExact(e.step), written(e.validation_loss, formatLoss)])
  const evaluationTable = tableOf(data.words.table_evaluations, evaluations)
  view.root.querySelector(".live-tables").replaceChildren(tableOf(data.words.table_now, now), evaluationTable)
}

function renderAlts(view) {
  const { moment: history, data } = view
  const values = { ...facts(history, data.unit, data.words), memory: memoryWord(history, data.words) }
  for (const figure of view.root.querySelectorAll("[data-chart]")) {
    figure.setAttribute("aria-label", fill(data.words[`alt_${figure.dataset.chart}`], values))
  }
}

// One summary at most every five seconds, for readers who listen.
function announce(view) {
  const now = Date.now()
  if (now - (view.announced ?? 0) < ANNOUNCE_MS) return
  view.announced = now
  say(view, ".live-announce", `${view.root.querySelector(".live-state").textContent}. ${headlineOf({ data: view.data, history: view.moment })}. ${view.root.querySelector(".live-progress").textContent}`)
}

// What a run can be taken away as: its steps, and once it has ended all of it.
function exportAddress({ history, data }, file) {
  const query = isRecorded(history) ? `recording=${encodeURIComponent(data.told.recording)}` : `run=${encodeURIComponent(history.run ?? "")}`
  return `/live/${file}?${query}`
}

function besideInAddress({ beside }) {
  return beside.map(({ run, name }) => `&beside=${encodeURIComponent(run)}&name=${encodeURIComponent(name)}`).join("")
}

function renderExports(view) {
  const link = view.root.querySelector(".live-csv")
  link.hidden = hasNoRun(view.history)
  link.href = exportAddress(view, "metrics.csv")
  const player = view.root.querySelector(".live-player")
  player.hidden = hasNoRun(view.history) || !FINAL_STATES.includes(view.history.state?.state)
  player.href = `${exportAddress(view, "run.html")}&lang=${view.data.language}&units=${view.data.unit}${besideInAddress(view.data)}`
}

function renderPanels(view) {
  renderExports(view)
  renderHeadline(view)
  renderStatus(view)
  renderControls(view)
  renderSample(view)
  renderTables(view)
  renderAlts(view)
  announce(view)
}
