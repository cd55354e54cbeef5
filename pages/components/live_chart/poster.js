// The run on a poster: its title, and the newest of its numbers, which are known here alone.

const ON_POSTER = ["loss", "validation_loss", "unigram_entropy", "mean_rate", "resident_bytes"]

// Null as long as there is nothing to hang on a wall.
function posterSays(view, poster) {
  const { moment: history, data } = view
  const { words, told, unit } = data
  if (!history.columns.step.length) return null
  const title = [poster.title, titleOf({ history, data })].filter(Boolean).join(" · ")
  if (told.waits) return { title, headline: "", numbers: [] }
  const known = facts(history, unit, words)
  const numbers = ON_POSTER.filter((name) => (known[name] ?? MISSING) !== MISSING).map((name) => [words[`fact_${name}`], known[name]])
  return { title, headline: headlineOf({ history, data }), numbers }
}
