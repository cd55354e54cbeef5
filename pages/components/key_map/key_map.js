const LIST_BUTTON = ".st-key-lesson_control .stPopover button";
const LESSONS = ".st-key-lesson_list a";
const LIST = ".st-key-lesson_list";
const PATIENCE_MS = 3000; // for the list to come, before it is asked for again
const NEXT = ".st-key-next_lesson a";

// A key that a field, a slider or a chart wants is not ours.
export function isFree(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  const target = event.composedPath()[0];
  return !target.closest?.("input, textarea, select, [contenteditable], [role=slider], [role=textbox]");
}

// The list of lessons is made on the server when it is first wanted, link by link.
async function openLesson(number) {
  const button = document.querySelector(LIST_BUTTON);
  button?.click();
  for (let tries = 0; button && tries < 200; tries++) {
    const lesson = document.querySelectorAll(LESSONS)[number - 1];
    if (lesson) {
      lesson.click();
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  document.querySelector(LIST_BUTTON)?.click(); // and closed again
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const [open, close] = parentElement.querySelectorAll("button");
  const dialog = parentElement.querySelector("dialog");
  const list = parentElement.querySelector("dl");
  open.setAttribute("aria-label", data.words.open);
  open.title = data.words.open;
  close.textContent = data.words.close;
  parentElement.querySelector("h2").textContent = data.words.title;
  list.replaceChildren(
    ...data.keys.flatMap(({ keys, does }) => {
      const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = keys;
      meaning.textContent = does;
      return [term, meaning];
    }),
  );
  const toggle = () => (dialog.open ? dialog.close() : dialog.showModal());
  open.onclick = toggle;
  open.hidden = false; // only now does it do something
  const onKey = (event) => {
    if (!isFree(event)) return;
    if (event.key === "?") toggle();
    else if (event.key >= "1" && event.key <= "9") openLesson(Number(event.key));
    else if (event.key.toLowerCase() === "n") document.querySelector(NEXT)?.click();
    else return;
    event.preventDefault();
  };
  // Streamlit calls this function again at every change, and its clean-up only at the end.
  parentElement.listening?.abort();
  parentElement.listening = new AbortController();
  const { signal } = parentElement.listening;
  document.addEventListener("keydown", onKey, { signal });
  const ask = () => {
    const isPending = Date.now() - (parentElement.asked ?? 0) < PATIENCE_MS;
    if (data.has_list || isPending) return;
    parentElement.asked = Date.now();
    setTriggerValue("list_wanted", true);
  };
  const askAtButton = ({ target }) => target.closest?.(LIST_BUTTON) && ask();
  for (const kind of ["pointerover", "click"]) document.addEventListener(kind, askAtButton, { signal });
  if (document.querySelector(LIST)) ask(); // opened before this part was there
  return () => parentElement.listening.abort();
}
