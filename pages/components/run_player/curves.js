// Small charts in SVG: the points are those of the run, a clip shows them up to one step.

const EDGE = { left: 58, right: 12, top: 30, bottom: 40 }

// About `count` round numbers from low to high.
function roundTicks(low, high, count = 5) {
  const rough = (high - low) / count || 1
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough)
  const ticks = []
  for (let tick = Math.ceil(low / step); tick * step <= high; tick += 1) ticks.push(Number((tick * step).toPrecision(12)))
  return ticks
}

function decadeTicks(low, high) {
  const ticks = []
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * 1.001; power += 1) if (10 ** power >= low) ticks.push(10 ** power)
  return ticks.length > 1 ? ticks : roundTicks(low, high, 4)
}

function rangeOf(values, isLog) {
  const known = values.filter((value) => value !== null && (!isLog || value > 0))
  const [low, high] = [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), -Infinity)]
  if (!known.length) return [1, 2]
  if (isLog) return [low * 0.9, high * 1.1]
  const room = 0.04 * (high - low || Math.abs(high) || 1)
  return [low >= 0 && low < high / 2 ? 0 : low - room, high + room]
}

// chart: {lines: [{x, y, color, width, marks}], references: [{value, label, dash}], title, steps, isLog, write}
function drawCurves(figure, chart, width, height) {
  const [low, high] = rangeOf([...chart.lines.flatMap((line) => line.y), ...(chart.references ?? []).map((each) => each.value)], chart.isLog)
  const scaled = chart.isLog ? Math.log10 : (value) => value
  const across = (step) => EDGE.left + (step / chart.steps) * (width - EDGE.left - EDGE.right)
  const up = (value) => height - EDGE.bottom - ((scaled(value) - scaled(low)) / (scaled(high) - scaled(low))) * (height - EDGE.top - EDGE.bottom)
  const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": chart.title })
  drawAxes(svg, chart, { low, high, across, up, width, height })
  const clip = node("clipPath", { id: `until-${chart.name}` })
  const window = node("rect", { x: 0, y: 0, height, width: across(chart.steps) + EDGE.right })
  clip.append(window)
  const curves = node("g", { "clip-path": `url(#until-${chart.name})` })
  for (const line of chart.lines) drawLine(curves, line, across, up, chart.isLog)
  svg.append(clip, curves)
  figure.replaceChildren(svg)
  return (step) => window.setAttribute("width", across(step) + 1)
}

function drawAxes(svg, chart, { low, high, across, up, width, height }) {
  for (const tick of chart.isLog ? decadeTicks(low, high) : roundTicks(low, high)) {
    svg.append(node("line", { class: "axis", x1: EDGE.left, x2: width - EDGE.right, y1: up(tick), y2: up(tick) }))
    svg.append(node("text", { x: EDGE.left - 6, y: up(tick) + 4, "text-anchor": "end" }, chart.write(tick)))
  }
  // Steps are counted: no tick between two of them.
  for (const tick of roundTicks(0, chart.steps, Math.min(chart.steps, width > 500 ? 6 : 3))) svg.append(node("text", { x: across(tick), y: height - 20, "text-anchor": "middle" }, formatExact(tick)))
  for (const { value, label, dash, at } of chart.references ?? []) {
    svg.append(node("line", { class: "reference", x1: EDGE.left, x2: width - EDGE.right, y1: up(value), y2: up(value), "stroke-dasharray": dash }))
    svg.append(node("text", { x: across(at * chart.steps), y: up(value) - 5, "text-anchor": "end" }, label))
  }
  svg.append(node("text", { x: EDGE.left - 50, y: 16 }, chart.title))
  const named = chart.lines.filter((line) => line.label)
  named.forEach(({ label, color }, index) => {
    const x = EDGE.left + 150 + index * 150
    svg.append(node("line", { x1: x, x2: x + 24, y1: 12, y2: 12, style: `stroke: ${color}; stroke-width: 3` }), node("text", { x: x + 30, y: 16 }, label))
  })
  svg.append(node("text", { x: width - EDGE.right, y: height - 4, "text-anchor": "end" }, chart.stepWord))
}

function drawLine(group, { x, y, color, width, marks, dash }, across, up, isLog) {
  const isDrawn = (value) => value !== null && (!isLog || value > 0)
  let path = ""
  let isOpen = false
  y.forEach((value, index) => {
    if (!isDrawn(value)) { isOpen = false; return }
    path += `${isOpen ? "L" : "M"}${across(x[index]).toFixed(1)},${up(value).toFixed(1)}`
    isOpen = true
    if (marks) group.append(node("circle", { cx: across(x[index]), cy: up(value), r: 3.5, style: `fill: ${color}` }))
  })
  group.append(node("path", { d: path, style: `stroke: ${color}`, "stroke-width": width, "stroke-dasharray": dash ?? "none" }))
}

// Two stacked bars of bytes, and between them what each part is: bars: [{title, parts, sum}], of the
// same names and colours from below.
function drawBars(figure, { title, names, colors, bars }, width, height) {
  const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title })
  const sums = bars.map(({ parts }) => parts.reduce((sum, part) => sum + part, 0))
  const [floor, full, wide] = [height - EDGE.bottom, height - EDGE.top - EDGE.bottom - 20, (width - 180) / 2]
  const tall = (part) => (full * part) / Math.max(...sums, 1)
  bars.forEach(({ title: below, parts, sum, isHollow }, index) => {
    const left = index * (width - wide)
    let up = floor
    parts.forEach((part, place) => {
      up -= tall(part)
      svg.append(node("rect", { x: left, y: up, width: wide, height: tall(part), style: `fill: ${colors[place]}; stroke: ${colors[place]}`, "fill-opacity": isHollow ? 0.3 : 1 }))
    })
    svg.append(node("text", { x: left + wide / 2, y: up - 6, "text-anchor": "middle" }, sum))
    svg.append(node("text", { x: left + wide / 2, y: height - 20, "text-anchor": "middle" }, below))
  })
  const known = bars.find(({ parts }) => parts.some(Boolean))?.parts ?? []
  const middles = known.map((part, index) => tall(known.slice(0, index).reduce((sum, each) => sum + each, 0) + part / 2))
  spread(middles, 17, full).forEach((place, index) => {
    if (!known[index]) return
    svg.append(node("rect", { x: wide + 12, y: floor - place - 5, width: 10, height: 10, style: `fill: ${colors[index]}` }))
    svg.append(node("text", { x: wide + 28, y: floor - place + 5 }, names[index]))
  })
  svg.append(node("text", { x: 0, y: 14 }, title))
  figure.replaceChildren(svg)
}
