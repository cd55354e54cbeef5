// A list with links and ticks. The ticks live in localStorage; several lists on one page agree.
const CHANGED = "bits-to-gpt-ticks-changed";

export function nextRow(rows, ticked) {
  const left = rows.filter((row) => !ticked.has(row.slug));
  const ready = left.filter((row) => row.needs.every((need) => ticked.has(need)));
  return [...ready, ...left][0] ?? null;
}

function readTicks(storage) {
  try {
    const kept = JSON.parse(localStorage.getItem(storage) ?? "[]");
    return new Set(Array.isArray(kept) ? kept.filter((slug) => typeof slug === "string") : []);
  } catch {
    return new Set(); // storage is off or holds something else: start without ticks
  }
}

function writeTicks(storage, ticked) {
  try {
    localStorage.setItem(storage, JSON.stringify([...ticked].sort()));
  } catch {
    return; // a private window: the tick shows until the page is left
  }
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function link(row, open) {
  if (!row.opens) return element("span", "title", row.title);
  const made = element("a", "title", row.title);
  made.href = row.address;
  made.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab, as the reader asked
    event.preventDefault();
    open(row.opens);
  });
  return made;
}

function tickBox(row, words, ticked, change) {
  const box = element("input");
  box.type = "checkbox";
  box.checked = ticked.has(row.slug);
  box.dataset.slug = row.slug;
  box.setAttribute("aria-label", words.done.replace("{title}", row.title));
  box.addEventListener("change", () => change(row.slug, box.checked));
  return box;
}

function line(row, data, ticked, change, open) {
  const item = element("li", ticked.has(row.slug) ? "done" : "");
  const text = element("div");
  text.append(link(row, open));
  if (row.detail) text.append(element("div", "detail", row.detail));
  item.append(tickBox(row, data.words, ticked, change), text);
  return item;
}

function section(group, data, ticked, change, open) {
  const list = element("ul");
  list.append(...group.rows.map((row) => line(row, data, ticked, change, open)));
  if (data.layout !== "folded") {
    const part = element("section");
    if (group.title) part.append(element("h4", "", group.title));
    part.append(list);
    return part;
  }
  const part = element("details");
  const done = group.rows.filter((row) => ticked.has(row.slug)).length;
  const summary = element("summary", "", group.title);
  summary.append(element("span", "count", ` ${done} / ${group.rows.length}`));
  part.dataset.title = group.title;
  part.name = "course"; // one group is open at a time
  part.append(summary, list);
  return part;
}

// The group that the reader opened stays open; before that, the one with the next row.
function unfold(root, data, next, opened) {
  const asked = data.groups.findIndex((group) => group.title === opened);
  const own = data.groups.findIndex((group) => group.rows.includes(next));
  const folded = root.querySelectorAll("details");
  if (folded.length) folded[Math.max(asked >= 0 ? asked : own, 0)].open = true;
}

function draw(root, data, ticked, change, open) {
  const opened = root.querySelector("details[open]")?.dataset.title;
  const focused = root.getRootNode().activeElement?.dataset?.slug;
  root.replaceChildren();
  root.className = `ticks ${data.layout}`;
  const next = nextRow(data.groups.flatMap((group) => group.rows), ticked);
  if (data.suggest && next) {
    const hint = element("p", "next", `${data.words.next} `);
    hint.append(link(next, open));
    root.append(hint);
  }
  root.append(...data.groups.map((group) => section(group, data, ticked, change, open)));
  unfold(root, data, next, opened);
  if (focused) root.querySelector(`input[data-slug="${CSS.escape(focused)}"]`)?.focus();
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".ticks");
  const open = (target) => setTriggerValue("open", target);
  const show = () => draw(root, data, readTicks(data.storage), change, open);
  function change(slug, isOn) {
    const ticked = readTicks(data.storage);
    if (isOn) ticked.add(slug);
    else ticked.delete(slug);
    writeTicks(data.storage, ticked);
    window.dispatchEvent(new Event(CHANGED));
  }
  show();
  window.addEventListener(CHANGED, show);
  window.addEventListener("storage", show);
  return () => {
    window.removeEventListener(CHANGED, show);
    window.removeEventListener("storage", show);
  };
}
