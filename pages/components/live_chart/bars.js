// The words at the bars of the memory: what each part is, between the two bars, and their sums.

const LINE = 1.65 // height of a label, in sizes of its letters

// As close to `wanted`, which rises, as labels of one `height` can stand without touching.
function spread(wanted, height, top) {
  const places = []
  for (const each of wanted) places.push(Math.max(each, places.length ? places.at(-1) + height : height / 2))
  let ceiling = top - height / 2
  for (let index = places.length - 1; index >= 0; index -= 1) {
    places[index] = Math.min(places[index], ceiling)
    ceiling = places[index] - height
  }
  return places
}

function labelBars(layout, history, { unit }, height) {
  const { names, colors, size, around, apart, num_bars: numBars } = layout.meta.labels
  const newest = newestOf(history, "memory").at(-1)
  const predicted = history.info.prediction?.memory
  const [divisor] = memoryUnit(history, unit)
  const partsOf = (held) => CATEGORIES.map((name) => (held?.[name] ?? 0) / divisor)
  const sumOf = (held) => partsOf(held).reduce((sum, part) => sum + part, 0)
  const parts = partsOf(newest ?? predicted)
  const top = Math.max(sumOf(newest), sumOf(predicted), (newest?.peak ?? 0) / divisor) * 1.12
  layout.annotations = []
  if (!top) return
  Object.assign(layout.yaxis, { autorange: false, range: [0, top] })
  const label = (x, y, text, yanchor) => ({ xref: "x2", x, y, text, yanchor, showarrow: false, font: { size } })
  const middles = parts.map((part, index) => parts.slice(0, index).reduce((sum, each) => sum + each, 0) + part / 2)
  spread(middles, (top * size * LINE) / Math.max(height - around, size), top).forEach((y, index) => {
    if (parts[index]) layout.annotations.push({ ...label(0.6, y, `<span style="color:${colors[index]}">■</span> ${names[index]}`, "middle"), xanchor: "left" })
  })
  const sums = [newest, predicted].slice(0, numBars)
  sums.forEach((held, index) => {
    if (held) layout.annotations.push(label(index * apart, sumOf(held), formatBytes(sumOf(held) * divisor, unit), "bottom"))
  })
}
