export default function ({ data, parentElement, setTriggerValue }) {
  document.documentElement.lang = data.language;
  const onKey = (event) => {
    if (event.key === "Escape" && data.presenting) setTriggerValue("leave", true);
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
