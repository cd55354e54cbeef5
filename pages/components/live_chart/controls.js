// The control bar: it shows the state that all readers share, and sends commands to Python.

const USABLE = {
  pause: ["starting", "running"],
  resume: ["paused", "stopped", "crashed", "failed"],
  step: ["paused"],
  stop: ["starting", "running", "paused"],
  go_back: ["paused"],
}
const KEYS = { " ": (state) => (state === "paused" ? "resume" : "pause"), ".": () => "step" }

function dialsOf(view) {
  return [...view.root.querySelectorAll("[data-dial]")]
}

function choicesOf(view, op) {
  return op === "set_learning_rate_multiplier" ? view.data.multipliers : view.data.governors
}

function sharedValue(view, op) {
  const state = view.history.state ?? {}
  return op === "set_learning_rate_multiplier" ? state.learning_rate_multiplier ?? 1 : state.max_steps_per_second ?? null
}

function valueText(view, op, value) {
  const { words } = view.data
  if (op === "set_learning_rate_multiplier") return fill(words.times, { value })
  return value === null ? words.governor_off : fill(words.governor_value, { value })
}

function nearestChoice(choices, value) {
  if (choices.includes(value)) return choices.indexOf(value)
  const distance = (choice) => (choice === null || value === null ? Infinity : Math.abs(Math.log(choice / value)))
  return choices.reduce((best, choice, index) => (distance(choice) < distance(choices[best]) ? index : best), 0)
}

function canUse(view, op) {
  const { state, can_resume: canResume } = view.history.state ?? {}
  if (op === "resume" && FINAL_STATES.includes(state) && canResume === false) return false
  return view.data.controls === "enabled" && (USABLE[op] ?? USABLE.stop).includes(state)
}

function renderControls(view) {
  const bar = view.root.querySelector(".live-controls")
  const isOver = isRecorded(view.history) || view.history.state?.state === "finished" || (isWatched(view.history) && FINAL_STATES.includes(view.history.state?.state))
  bar.hidden = view.data.controls === "hidden" || view.history.run === null || isOver
  renderPair(view, bar.querySelector(".live-pair"))
  const stop = opWord(view, "stop")
  const stopButton = bar.querySelector("[data-op=stop]")
  if (stopButton.textContent !== stop) stopButton.textContent = stop
  for (const button of view.root.querySelectorAll("[data-op]")) {
    button.disabled = !canUse(view, button.dataset.op)
  }
  view.root.querySelector("[data-op=go_back]").hidden = bar.hidden || view.history.state?.reason !== "non_finite"
  for (const dial of dialsOf(view)) renderDial(view, dial)
  say(view, ".live-ack", ackSentence(view))
}

// One button, so that it keeps the focus: a run that goes is paused, another one resumed.
function renderPair(view, button) {
  button.dataset.op = USABLE.resume.includes(view.history.state?.state) ? "resume" : "pause"
  const text = view.data.words[`op_${button.dataset.op}`]
  if (button.textContent !== text) button.textContent = text
}

// A dial shows the shared value, except while a hand is on it.
function renderDial(view, dial) {
  const op = dial.dataset.dial
  const choices = choicesOf(view, op)
  dial.max = choices.length - 1
  dial.disabled = !canUse(view, op)
  const held = dial.dataset.held
  if (!held) dial.value = nearestChoice(choices, sharedValue(view, op))
  const text = valueText(view, op, held ? choices[dial.value] : sharedValue(view, op))
  dial.nextElementSibling.textContent = text
  dial.setAttribute("aria-valuetext", text)
}

function commandName(view, op, value) {
  const { words } = view.data
  if (op === "set_learning_rate_multiplier") return fill(words.command_multiplier, { value })
  if (op === "set_max_steps_per_second") return value === null ? words.command_no_governor : fill(words.command_governor, { value })
  return opWord(view, op)
}

function opWord({ data, history }, op) {
  return data.words[op === "stop" && isWatched(history) ? "op_leave" : `op_${op}`]
}

function sendCommand(view, op, value = null) {
  if (!canUse(view, op)) return
  const nonce = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`
  view.sent = { op, value, nonce, numAcks: eventsOf(view.history, "ack").length }
  view.trigger("command", { op, value, nonce, run: view.history.run })
  renderControls(view)
}

// Python tells the number that it gave the command; its ack tells the step where it took effect.
function ackOf(view) {
  const acks = eventsOf(view.sent ? view.history : view.moment, "ack")
  const { receipt } = view.data
  if (!view.sent) return acks.at(-1)
  if (receipt?.nonce !== view.sent.nonce) return undefined
  return acks.find((ack) => ack.command === receipt.number)
}

function ackSentence(view) {
  const { words, receipt } = view.data
  const { sent } = view
  if (sent && receipt?.nonce === sent.nonce && receipt.error) return receipt.error
  if (sent && receipt?.nonce === sent.nonce && receipt.number === 0) {
    return FINAL_STATES.includes(view.history.state?.state) ? "" : words.resumed
  }
  const ack = ackOf(view)
  if (ack) {
    const values = { command: commandName(view, ack.op, ack.value), step: formatExact(ack.step), reason: ack.reason ?? "" }
    return fill(ack.accepted ? words.took_effect : words.refused, values)
  }
  return sent ? fill(words.sent, { command: commandName(view, sent.op, sent.value) }) : ""
}

function isTyping(target) {
  return target.isContentEditable || Boolean(target.closest?.("input, textarea, select, button, a, summary, [role=radio], [role=slider], [role=tab]"))
}

function listenToKeys(view) {
  view.onKey = (event) => {
    const op = KEYS[event.key]?.(view.history.state?.state)
    if (!op || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !canUse(view, op)) return
    event.preventDefault()
    sendCommand(view, op)
  }
  document.addEventListener("keydown", view.onKey)
}

function listenToControls(view) {
  for (const button of view.root.querySelectorAll("[data-op]")) {
    button.onclick = () => sendCommand(view, button.dataset.op)
  }
  for (const dial of dialsOf(view)) {
    dial.oninput = () => { dial.dataset.held = "yes"; renderDial(view, dial) }
    dial.onchange = () => {
      sendCommand(view, dial.dataset.dial, choicesOf(view, dial.dataset.dial)[dial.value])
      setTimeout(() => { delete dial.dataset.held; renderDial(view, dial) }, 3000)
    }
  }
  const slider = view.root.querySelector(".live-sample input")
  slider.oninput = () => { slider.dataset.touched = "yes"; renderSample(view) }
  view.root.querySelector("details").ontoggle = () => renderTables(view)
}
