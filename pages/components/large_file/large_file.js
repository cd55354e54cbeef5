// A refusal in the middle of a body is not heard: so ask first. And fetch() does not say how much of
// a body is sent; the older request does.
export async function send(file, path, words, { stop, onProgress, onAnswer, onRefused }) {
  const { signal } = stop;
  const asked = await fetch(path, { signal }).catch(() => ({ ok: false }));
  if (signal.aborted) return undefined;
  if (!asked.ok) return onRefused(words[asked.status] ?? words.failed);
  const request = new XMLHttpRequest();
  request.open("POST", path);
  signal.addEventListener("abort", () => request.abort());
  request.upload.onprogress = ({ loaded }) =>
    onProgress(file.size ? Math.floor((100 * loaded) / file.size) : 100);
  request.onerror = () => onRefused(words.failed);
  request.onload = () => {
    if (request.status !== 200) return onRefused(words[request.status] ?? words.failed);
    onAnswer(JSON.parse(request.responseText).key);
  };
  request.send(file);
}

const GRACE_MS = 1000; // a part is taken out and put back while a page is redrawn
const sending = new WeakMap(); // place -> what stops its file

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const { words } = data;
  const [button, input, bar, status] = ["button", "input", "progress", "span"].map((name) =>
    parentElement.querySelector(name),
  );
  const place = button.parentElement;
  const isSending = () => !bar.hidden;
  button.textContent = words.choose;
  button.hidden = false;
  parentElement.querySelector("small").textContent = words.drop;
  button.disabled = data.disabled || isSending();

  const end = (sentence) => {
    bar.hidden = true;
    button.disabled = data.disabled;
    status.textContent = sentence;
    input.value = ""; // the same file may be chosen again
  };
  const take = (file) => {
    if (!file || data.disabled || isSending()) return;
    if (file.size > data.mostBytes) return end(words["413"]);
    bar.hidden = false;
    button.disabled = true;
    const stop = new AbortController();
    sending.set(place, stop);
    send(file, data.path, words, {
      stop,
      onProgress: (percent) => {
        bar.value = percent;
        status.textContent =
          percent < 100 ? words.sending.replace("{percent}", percent) : words.reading;
      },
      onAnswer: (key) => {
        end("");
        setTriggerValue("sent", { key, name: file.name });
      },
      onRefused: end,
    });
  };
  button.onclick = () => input.click();
  input.onchange = () => take(input.files[0]);
  place.ondragover = (event) => {
    event.preventDefault();
    place.toggleAttribute("data-over", !data.disabled);
  };
  place.ondragleave = () => place.removeAttribute("data-over");
  place.ondrop = (event) => {
    event.preventDefault();
    place.removeAttribute("data-over");
    take(event.dataTransfer.files[0]);
  };
  return () => setTimeout(() => place.isConnected || sending.get(place)?.abort(), GRACE_MS);
}
