// What a run's numbers say so far.

// Short while the loss falls fast.
function halfLife(step, numSteps) {
  return Math.max(2, Math.min(step / 20, numSteps / 100))
}

// An exponential average over steps that need not be evenly spaced; `memory` goes on where the
// last call ended: {average, step}.
// `strength` lengthens its half-life; at 0 nothing is averaged.
function smooth(steps, values, numSteps, memory = { average: null, step: 0 }, strength = 1) {
  return values.map((value, index) => {
    if (value === null) return null
    const keep = memory.average === null ? 0 : 0.5 ** ((steps[index] - memory.step) / (strength * halfLife(steps[index], numSteps)))
    memory.average = keep * (memory.average ?? 0) + (1 - keep) * value
    memory.step = steps[index]
    return memory.average
  })
}

// Which records a later attempt has done again.
function superseded(steps, attempts) {
  const flags = new Array(steps.length).fill(false)
  let redoneFrom = Infinity
  let attempt = Infinity
  let first = Infinity
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    if (attempts[index] < attempt) {
      redoneFrom = Math.min(redoneFrom, first)
      attempt = attempts[index]
      first = steps[index]
    }
    first = Math.min(first, steps[index])
    flags[index] = steps[index] >= redoneFrom
  }
  return flags
}

function brokenSteps(steps, losses) {
  let height = 0
  const found = { x: [], y: [] }
  losses.forEach((loss, index) => {
    if (loss !== null) height = loss
    else {
      found.x.push(steps[index])
      found.y.push(height)
    }
  })
  return found
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

// The median forgets a pause; null before two records exist.
function secondsPerStep(steps, times, window = 40) {
  const [s, t] = [steps.slice(-window - 1), times.slice(-window - 1)]
  const gaps = []
  for (let i = 1; i < s.length; i += 1) if (s[i] > s[i - 1]) gaps.push((t[i] - t[i - 1]) / (s[i] - s[i - 1]))
  return gaps.length ? median(gaps) : null
}

// By the machine's own speed, evaluations included; pauses and a speed limit are not.
function ownPace(trainedSeconds, step, steps, times) {
  return trainedSeconds && step ? trainedSeconds / step : secondsPerStep(steps, times)
}

// Until the last step or the end of the time, whichever comes first.
function secondsLeft(numStepsLeft, pace, maxStepsPerSecond = null, trainedSecondsLeft = null) {
  const heldBack = maxStepsPerSecond ? Math.max(pace, 1 / maxStepsPerSecond) : pace
  const bySteps = numStepsLeft * heldBack
  return trainedSecondsLeft === null ? bySteps : Math.min(bySteps, (Math.max(trainedSecondsLeft, 0) / pace) * heldBack)
}

function axisUnit(numBytes, unit) {
  const base = unit === "GiB" ? 1024 : 1000
  const names = unit === "GiB" ? ["KiB", "MiB", "GiB"] : ["kB", "MB", "GB"]
  const power = numBytes >= base ** 3 ? 3 : numBytes >= base ** 2 ? 2 : 1
  return [base ** power, names[power - 1]]
}

function stage(validationLoss, text) {
  if (validationLoss === null || validationLoss === undefined) return "unknown"
  if (validationLoss >= text.ln_vocab) return "worse"
  if (validationLoss >= text.unigram_entropy) return "guess"
  return validationLoss >= text.bigram_entropy ? "frequencies" : "context"
}

function learningSentence(validationLoss, text, words) {
  const reached = stage(validationLoss, text)
  if (reached === "unknown") return words.learnt_unknown
  const [beaten, goal] = {
    worse: [validationLoss, text.ln_vocab],
    guess: [text.ln_vocab, text.unigram_entropy],
    frequencies: [text.unigram_entropy, text.bigram_entropy],
    context: [text.bigram_entropy, text.bigram_entropy],
  }[reached]
  return fill(words[`learnt_${reached}`], {
    loss: validationLoss.toFixed(2),
    distance: (beaten - validationLoss).toFixed(2),
    goal: goal.toFixed(2),
    vocab_size: text.vocab_size,
  })
}

function wordSentence(numWords, numRealWords, words) {
  if (!(numWords > 0)) return ""
  return fill(words.real_words, { share: ((100 * numRealWords) / numWords).toFixed(0) })
}
