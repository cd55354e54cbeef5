// The newest numbers of a run as written text.

function last(history, name, write, empty = MISSING) {
  const column = history.columns[name]
  return column.length ? written(column.at(-1), write) : empty
}

function facts(history, unit, words) {
  const { config = {}, text = {} } = history.info
  const rate = (value) => formatRate(value, words.tokens)
  return {
    step: last(history, "step", formatExact, "0"),
    num_steps: written(config.num_steps, formatExact),
    loss: last(history, "loss", formatLoss),
    validation_loss: written(newestOf(history, "eval").at(-1)?.validation_loss, formatLoss),
    ln_vocab: written(text.ln_vocab, formatLoss),
    unigram_entropy: written(text.unigram_entropy, formatLoss),
    bigram_entropy: written(text.bigram_entropy, formatLoss),
    learning_rate: last(history, "learning_rate", formatScientific),
    num_changes: String(multiplierChanges(history).length),
    // A watched loop of short steps has one only now and then.
    grad_norm: written(history.columns.grad_norm.findLast(Number.isFinite), formatLoss),
    grad_clip: written(config.grad_clip, String),
    tokens_per_second: last(history, "tokens_per_second", rate),
    mean_rate: written(meanTokensPerSecond(history), rate),
    predicted_rate: written(predictedTokensPerSecond(history.info), rate),
    ...mfuFact(history, words),
    ...memoryFacts(history, unit, words),
  }
}

function memoryWord(history, words) {
  return onGpu(history) ? words.vram : words.memory
}

function sourceWord(source, words) {
  return words[`source_${source}`] ?? MISSING
}

function mfuFact(history, words) {
  const { prediction, resolved } = history.info
  const { peak_flops_per_second: peak, peak_source: source } = resolved ?? {}
  if (!prediction?.flops_per_step) return {}
  if (!peak) return { mfu: words.unknown }
  const share = written(mfu(history), (fraction) => formatPercent(fraction, words))
  return { mfu: fill(words.share_of_peak, { share, peak: formatFlopsPerSecond(peak), source: sourceWord(source, words) }) }
}

function memoryFacts(history, unit, words) {
  const size = (numBytes) => formatBytes(numBytes, unit)
  const newest = newestOf(history, "memory").at(-1) ?? {}
  const predicted = Object.values(history.info.prediction?.memory ?? {}).reduce((sum, part) => sum + part, 0)
  return {
    ...Object.fromEntries(CATEGORIES.map((name) => [name, written(newest[name], size)])),
    peak: written(newest.peak, (bytes) => fill(words.peak_of_memory, { amount: size(bytes), source: sourceWord(newest.source, words) })),
    ...Object.fromEntries(AROUND.filter((name) => name in newest).map((name) => [name, size(newest[name])])),
    ...("utilization" in newest ? { utilization: formatPercent(newest.utilization, words) } : {}),
    predicted: written(predicted || null, size),
    resident_bytes: last(history, "resident_bytes", size),
  }
}

// What was predicted beside what it took, from the click to the last step; a pause is told apart.
function outcome(history, unit, words) {
  const { prediction, created } = history.info
  const newest = newestOf(history, "memory").at(-1)
  const last = history.columns.time.at(-1)
  if (!prediction?.seconds || !prediction.memory || !newest || last === undefined) return ""
  const size = (numBytes) => formatBytes(numBytes, unit)
  const sum = (parts) => parts.reduce((total, part) => total + part, 0)
  const paused = waitedUntil(waitsOf(history), last)
  return fill(paused >= 1 ? words.outcome_paused : words.outcome, {
    paused: formatSeconds(paused, words),
    predicted_seconds: formatSeconds(prediction.seconds, words),
    predicted: size(sum(Object.values(prediction.memory))),
    seconds: formatSeconds(last - created - paused, words),
    measured: size(sum(CATEGORIES.map((name) => newest[name]))),
    other: size(newest.other),
  })
}

function remaining({ columns, info, state }) {
  const { num_steps: numSteps = 0, max_seconds: limit = null } = info.config ?? {}
  const { trained_seconds: trained = 0, step = 0, max_steps_per_second: most = null } = state ?? {}
  const pace = ownPace(trained, step, columns.step, columns.time)
  const left = numSteps - (columns.step.at(-1) ?? 0)
  if (pace === null || left <= 0) return null
  return secondsLeft(left, pace, most, limit === null || !trained ? null : limit - trained)
}
