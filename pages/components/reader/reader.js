// Streamlit has no call that changes the theme, so the button presses the entry of Streamlit's own
// menu. Streamlit remembers a theme for the address where it was chosen; ours holds on every page.
const MENU = '[data-testid="stMainMenuButton"]';
const entry = (name) => `[data-testid="stMainMenuItem-theme-${name}"]`;
const memory = (path) => `stActiveTheme-${path}-v2`;
const IDLE = '[data-test-script-state="notRunning"]';
const PAGE_LINK = ["stTopNav", "stSidebarNav", "stPageLink"].map((part) => `a[data-testid^=${part}]`).join();

export function isDark(background) {
  const [red, green, blue] = background.match(/[\d.]+/g).map(Number);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}

function shownTheme() {
  const app = document.querySelector(".stApp");
  return isDark(getComputedStyle(app).backgroundColor) ? "Dark" : "Light";
}

// What is seen decides, not what the server sent last: its style sheet arrives before its data.
function isProjector() {
  return getComputedStyle(document.documentElement).getPropertyValue("--projector").trim() === "1";
}

async function appears(selector, tries = 120) {
  for (let i = 0; i < tries; i++) {
    const found = document.querySelector(selector);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return null;
}

async function chooseTheme(name, paths) {
  const quiet = document.createElement("style");
  quiet.textContent = '[data-testid="stMainMenuPopover"] { opacity: 0; }';
  document.head.append(quiet);
  const menu = document.querySelector(MENU);
  menu?.click();
  const wanted = await appears(entry(name));
  wanted?.click();
  for (const path of paths) localStorage.setItem(memory(path), JSON.stringify(name));
  // Choosing a theme leaves the menu open; the button that opened it closes it.
  if (document.querySelector(entry(name))) menu?.click();
  await new Promise((resolve) => setTimeout(resolve, 200));
  quiet.remove();
  if (!wanted) menu?.click(); // this Streamlit has another menu: show it, the reader can choose
}

function isFree(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  const target = event.composedPath()[0];
  return !target.closest?.("input, textarea, select, [contenteditable], [role=slider], dialog");
}

// A click on a link to another page brings along what was chosen for all pages; a new tab and a
// copied address have only the link itself. So it is completed when it is reached.
function completeLink(event, kept) {
  const link = event.target.closest?.(PAGE_LINK);
  if (!link) return;
  if (link.href !== link.completed) link.written = link.href; // by Streamlit, since the last time
  const address = new URL(link.written);
  for (const [name, value] of Object.entries(kept)) {
    if (!address.searchParams.has(name)) address.searchParams.set(name, value);
  }
  link.href = link.completed = address.href;
}

// Of a link to the page on show Streamlit writes the address only where a default has to leave it.
async function writeAddress(event) {
  const link = event.target.closest?.(PAGE_LINK);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const [before, { pathname, search, hash }] = [location.href, new URL(link.href)];
  if (pathname !== location.pathname || search === location.search) return;
  do await new Promise((resolve) => setTimeout(resolve, 100));
  while (!document.querySelector(IDLE));
  if (location.href === before) history.pushState({}, "", pathname + search + hash);
}

// Streamlit opens a list over its button where the room below is too small: it ends at the headline.
function boundPopover({ target }) {
  const button = target.closest?.("[data-testid=stPopoverButton]");
  const headline = document.querySelector(".st-key-headline");
  if (!button) return;
  const { top, bottom } = button.getBoundingClientRect();
  const above = headline ? top - headline.getBoundingClientRect().bottom : 0;
  document.documentElement.style.setProperty("--popover-room", `${Math.max(above, innerHeight - bottom) - 12}px`);
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  document.documentElement.lang = data.language;
  const button = parentElement.querySelector("button");
  const label = () => {
    const words = shownTheme() === "Dark" ? data.words.to_light : data.words.to_dark;
    button.setAttribute("aria-label", words);
    button.title = words;
  };
  label();
  button.hidden = false; // only now does it do something
  button.onclick = async () => {
    await chooseTheme(shownTheme() === "Dark" ? "Light" : "Dark", data.paths);
    button.focus();
  };
  // The button, Streamlit's menu and the system change the theme; charts are drawn for the new one.
  // The last theme outlives this call: a change must not be lost between two of Streamlit's calls.
  parentElement.theme ??= shownTheme();
  const notice = () => {
    if (parentElement.theme === shownTheme()) return;
    parentElement.theme = shownTheme();
    label();
    setTriggerValue("theme", parentElement.theme);
  };
  parentElement.themes?.disconnect();
  parentElement.themes = new MutationObserver(notice);
  parentElement.themes.observe(document.querySelector(".stApp"), { attributeFilter: ["class"] });
  notice();
  const onKey = (event) => {
    if (!isFree(event)) return;
    const shown = isProjector();
    if (event.key === "Escape" && shown) setTriggerValue("present", "0");
    else if (event.key.toLowerCase() === "p") setTriggerValue("present", shown ? "0" : "1");
  };
  // Streamlit calls this function again at every change, and its clean-up only at the end.
  parentElement.listening?.abort();
  parentElement.listening = new AbortController();
  const { signal } = parentElement.listening;
  document.addEventListener("keydown", onKey, { signal });
  for (const reached of ["pointerover", "focusin"]) {
    document.addEventListener(reached, (event) => completeLink(event, data.kept), { signal });
  }
  document.addEventListener("click", writeAddress, { signal });
  document.addEventListener("click", boundPopover, { signal, capture: true });
  return () => {
    parentElement.listening.abort();
    parentElement.themes.disconnect();
  };
}
