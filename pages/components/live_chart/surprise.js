// A sample, each character shaded by its surprise: the stronger the colour, the less likely the model
// thought it. Hover or the arrow keys show what the model held likely in a character's place.

const MOST_BITS = 8 // from here on as strong as it gets
const STRONGEST = 0.45 // of the colour: text over it still has a contrast of 4.5
const WAYS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }

function shade(bits) {
  return STRONGEST * Math.min(Math.max(bits ?? 0, 0) / MOST_BITS, 1)
}

function meanSurprise(stretches) {
  const count = stretches.reduce((sum, [text]) => sum + [...text].length, 0)
  return count ? stretches.reduce((sum, [, bits]) => sum + (bits ?? 0), 0) / count : null
}

// Pairs of a character that cannot be seen and the sign for it, as core/train/text/pieces.py has them.
function visible(text, pairs) {
  const signs = Object.fromEntries(pairs.match(/[^]{2}/g).map(([character, sign]) => [character, sign]))
  return [...text].map((character) => signs[character] ?? character).join("")
}

// A sample of an older run has no surprise: it is written without shades.
function writeSample(view, sample) {
  const quote = view.root.querySelector(".live-sample pre")
  const shown = sample ? `${view.moment.run} ${sample.seq}` : ""
  if (quote.dataset.shown === shown) return
  quote.dataset.shown = shown
  const prompt = document.createElement("b")
  prompt.textContent = sample?.prompt ?? ""
  const stretches = sample?.written ?? []
  quote.replaceChildren(prompt, ...(stretches.length ? stretches.map(stretchOf) : [sample?.text ?? ""]))
  view.stretches = stretches
  view.pointed = -1
  quote.tabIndex = 0
  renderSurprise(view)
}

function stretchOf([text, bits], index) {
  const span = document.createElement("span")
  span.textContent = text
  span.dataset.index = index
  span.style.setProperty("--surprise", `${(100 * shade(bits)).toFixed(1)}%`)
  return span
}

// Below the text: what is known of the character that is pointed at, else how to read the shades.
function renderSurprise(view) {
  const { words } = view.data
  const { stretches = [], pointed = -1 } = view
  const legend = view.root.querySelector(".live-legend")
  legend.hidden = !stretches.length || Boolean(stretches[pointed])
  const mean = meanSurprise(stretches)
  say(view, ".live-mean-surprise", mean === null ? "" : fill(words.mean_surprise, { bits: mean.toFixed(2) }))
  say(view, ".live-candidates", stretches[pointed] ? candidatesSentence(stretches[pointed], words) : stretches.length ? words.candidates_how : "")
}

function candidatesSentence([text, bits, candidates], words) {
  const likeliest = candidates.map((each) => each.map(([sign, chance]) => `${sign} ${chanceText(chance, words)}`).join(" · "))
  return fill(words.candidates, { text: visible(text, words.signs), bits: (bits ?? 0).toFixed(2), candidates: likeliest.join(" | ") })
}

function chanceText(chance, words) {
  return chance < 0.001 ? fill(words.percent, { number: "< 0.1" }) : formatPercent(chance, words)
}

function pointAt(view, index) {
  if (view.pointed === index) return
  const quote = view.root.querySelector(".live-sample pre")
  quote.querySelector(".live-pointed")?.classList.remove("live-pointed")
  view.pointed = index
  quote.querySelector(`[data-index="${index}"]`)?.classList.add("live-pointed")
  renderSurprise(view)
}

function listenToSample(view) {
  const quote = view.root.querySelector(".live-sample pre")
  quote.onpointerover = ({ target }) => { if (target.dataset.index) pointAt(view, Number(target.dataset.index)) }
  quote.onpointerleave = () => { if (document.activeElement !== quote) pointAt(view, -1) }
  quote.onblur = () => pointAt(view, -1)
  quote.onfocus = () => { if (view.pointed < 0 && view.stretches?.length) pointAt(view, 0) }
  quote.onkeydown = (event) => {
    const way = WAYS[event.key]
    if (!way || !view.stretches?.length) return
    event.preventDefault()
    pointAt(view, Math.min(Math.max(view.pointed + way, 0), view.stretches.length - 1))
  }
}
