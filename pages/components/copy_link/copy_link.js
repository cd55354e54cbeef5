// The address holds only what differs from its default; a setting that does not follow the address
// (hidden, or refused there) keeps the value that Python used. In a class the link names the address
// that others can reach, also when the teacher reads under a name of this computer.
export function fullAddress(location, settings, reachable = "") {
  const address = new URLSearchParams(location.search);
  const query = new URLSearchParams();
  for (const { name, value, default: standard, follows } of settings) {
    const written = follows ? address.get(name) ?? standard : value;
    if (written !== "" || standard !== "") query.set(name, written);
  }
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const origin = isHere && reachable ? reachable : location.origin;
  return `${origin}${location.pathname}?${query}`;
}

async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  // A class reads over plain http, where browsers offer only the old way.
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("copy refused");
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  const status = parentElement.querySelector("span");
  button.textContent = data.words.copy;
  button.hidden = false; // only now does it do something
  button.onclick = async () => {
    const link = fullAddress(window.location, data.settings, data.reachable);
    if (data.reachable) setTriggerValue("copied", link); // shown as a QR code under "Join"
    try {
      await copy(link);
      status.textContent = data.words.copied;
      setTimeout(() => (status.textContent = ""), 2500);
    } catch {
      window.prompt(data.words.failed, link);
    }
  };
}
