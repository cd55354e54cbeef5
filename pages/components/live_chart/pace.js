// Records come twice a second; the loss chart shows them one after the other, in the half second
// until the next come. Nothing is drawn that was not measured, only later.

const PACE_MS = 500
const FRAME_MS = 50

function wantsMotion() {
  return !window.matchMedia("(prefers-reduced-motion: reduce)").matches
}

// How many records the loss chart is to show now.
function numPaced(view) {
  const total = view.history.columns.step.length
  if (!view.pace) return total
  const { from, began } = view.pace
  return Math.min(Math.round(from + (total - from) * Math.min((performance.now() - began) / PACE_MS, 1)), total)
}

// Call it with the number of records that were shown before the new ones came.
function startPace(view, from) {
  if (!wantsMotion() || !view.drawn.loss) { view.pace = null; return }
  view.pace = { from, began: performance.now() }
  view.pacing ??= setInterval(() => {
    if (!view.drawing) refreshCharts(view, { whole: false })
    if (!view.pace || numPaced(view) === view.history.columns.step.length) stopPace(view)
  }, FRAME_MS)
}

function stopPace(view) {
  clearInterval(view.pacing)
  view.pacing = null
  view.pace = null
  if (!view.closed) refreshCharts(view, { whole: false })
}
