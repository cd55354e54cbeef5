// A whole page on a narrow screen: what is cut, covered, beside another or wider than the screen.
([picture, least]) => {
  const main = document.querySelector("[data-testid=stMain]");
  const shown = { opacityProperty: true, visibilityProperty: true };
  const outOf = (each) => each.parentElement ?? each.getRootNode().host ?? null;
  const meet = (a, b) => ({ left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom) });
  const wide = (box) => box.right - box.left, high = (box) => box.bottom - box.top;
  // What an SVG's clip path leaves of a text, in pixels of the screen.
  const clipOf = (each) => {
    const name = getComputedStyle(each).clipPath.match(/#([^")]+)/)?.[1];
    const rect = name && each.getRootNode().getElementById(name)?.querySelector("rect");
    if (!rect || !each.getScreenCTM) return null;
    const [x, y, w, h] = ["x", "y", "width", "height"].map((side) => Number(rect.getAttribute(side)));
    const [from, to] = [[x, y], [x + w, y + h]].map((point) => new DOMPoint(...point).matrixTransform(each.getScreenCTM()));
    return { left: from.x, top: from.y, right: to.x, bottom: to.y };
  };
  const texts = [], cut = [], fields = [];
  const look = (box, parent, words) => {
    let [left, scrolls] = [box, false];
    for (let each = parent; each && each !== main && each !== document.body; each = outOf(each)) {
      const style = getComputedStyle(each);
      const clip = each instanceof SVGElement ? clipOf(each) : null;
      if (clip) left = meet(left, clip);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      if (style.display === "contents" || style.display === "inline") continue;
      const room = each.getBoundingClientRect();
      if (room.width <= 1 || room.height <= 1 || style.clipPath.startsWith("inset")) return; // for the ear alone
      const moves = each.querySelector(":scope > .map")?.checkVisibility(shown); // a small map shows where the rest lies
      scrolls ||= moves || (/auto|scroll/.test(style.overflowX) && each.scrollWidth > each.clientWidth + 1);
      if (moves || /auto|scroll/.test(style.overflowX + style.overflowY)) box = meet(box, room);
      left = meet(left, room);
      if (wide(box) <= 0 || high(box) <= 0) return; // scrolled out of sight
    }
    if (!scrolls) left = meet(left, { left: 0, right: innerWidth, top: -1e6, bottom: 1e6 });
    if (wide(left) < wide(box) - 2 || high(left) < high(box) - 5) cut.push(words);
    if (wide(left) > 0 && high(left) > 0) texts.push({ ...left, words, parent });
  };
  // Behind a wide gap a menu's word has the names by which typing finds it: they are not meant to be seen.
  const widthOf = (input) => {
    const [seen, hidden] = input.value.split(/\u2003+/);
    if (!hidden) return input.scrollWidth;
    const { font, paddingLeft, paddingRight } = getComputedStyle(input);
    const pen = Object.assign(document.createElement("canvas").getContext("2d"), { font });
    return pen.measureText(seen).width + parseFloat(paddingLeft) + parseFloat(paddingRight);
  };
  const ignored = "style, script, noscript, .katex, [data-testid=stIconMaterial], option";
  const walk = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const at = walker.currentNode;
      if (at.shadowRoot) walk(at.shadowRoot);
      if (at.matches?.("input:not([type=range])") && at.checkVisibility(shown) && widthOf(at) > at.clientWidth + 1)
        fields.push(at.value);
      const [words, parent] = [at.textContent.trim(), at.parentElement];
      if (at.nodeType !== 3 || !words || !parent || parent.closest(ignored) || !parent.checkVisibility(shown)) continue;
      const range = document.createRange();
      range.selectNodeContents(at);
      for (const { left, right, top, bottom } of range.getClientRects())
        look({ left, right, top, bottom }, parent, words);
    }
  };
  walk(document.body);
  // A frame that moves to the side shows its picture down to the last pixel.
  for (const frame of main.querySelectorAll(".stElementContainer:has(> [data-room])"))
    if (frame.scrollHeight > frame.clientHeight + 1) cut.push(`${frame.scrollHeight - frame.clientHeight} px below a picture`);
  const isSlanted = ({ parent }) => parent.ownerSVGElement && Math.abs(parent.getScreenCTM().b) > 0.01;
  const covers = (one, other) => {
    if (one.parent === other.parent || (isSlanted(one) && isSlanted(other))) return false;
    const both = meet(one, other);
    return wide(both) > 2 && high(both) > 0.35 * Math.min(high(one), high(other));
  };
  const overlaps = texts.flatMap((one, at) => texts.slice(at + 1).filter((other) => covers(one, other))
    .map((other) => `${one.words} / ${other.words}`));
  const seen = (each) => each.checkVisibility(shown) && each.getBoundingClientRect().height > 1;
  const boxOf = (each) => each.getBoundingClientRect();
  const isBeside = (one, other) => one !== other && high(meet(boxOf(one), boxOf(other))) > 8;
  const narrow = [...main.querySelectorAll(".stHorizontalBlock")].flatMap((row) => {
    const columns = [...row.children].filter((each) => each.matches(".stColumn") && seen(each));
    return columns.filter((one) => columns.some((other) => isBeside(one, other)) && boxOf(one).width < least)
      .map((each) => each.innerText.slice(0, 40));
  });
  const pictures = [...main.querySelectorAll(picture)].filter(seen), first = pictures[0];
  const row = pictures.filter((each) => each === first || isBeside(each, first)).map(boxOf); // two are compared
  const rail = [...main.querySelectorAll(".st-key-page_rail")].find(seen);
  return {
    // What a field has no room for may be said whole elsewhere: an error's text in the headline.
    cut: [...cut, ...fields.filter((each) => !texts.some(({ words }) => words === each))], overlaps, narrow,
    share: first ? Math.min((Math.max(...row.map(({ right }) => right)) - Math.min(...row.map(({ left }) => left))) / innerWidth, 1) : 1,
    top: first ? Math.round(boxOf(first).top) : null,
    controls_first: Boolean(first && rail && boxOf(rail).top < boxOf(first).bottom - 1),
    too_wide: Math.max(document.documentElement.scrollWidth - innerWidth, main.scrollWidth - main.clientWidth),
  };
}
