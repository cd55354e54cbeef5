// The page's own fonts in a file: a poster's letters are those of the page wherever it is printed.

const FONTS = new Map(); // address -> the font as a data URL

const isUpright = ({ style }) => style.getPropertyValue("font-style") !== "italic";

// The @font-face rules of the families that the text of a file names.
async function fontsFor(text) {
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).filter((rule) => rule instanceof CSSFontFaceRule);
  const familyOf = ({ style }) => style.getPropertyValue("font-family").replaceAll('"', "");
  const used = rules.filter((rule) => isUpright(rule) && text.includes(familyOf(rule)));
  const written = used.map(async (rule) => {
    const weight = rule.style.getPropertyValue("font-weight");
    return `@font-face { font-family: "${familyOf(rule)}"; font-weight: ${weight}; src: url(${await fontAt(rule)}); }`;
  });
  return (await Promise.all(written)).join("\n");
}

function fontAt(rule) {
  const [, source] = rule.style.getPropertyValue("src").match(/url\("?([^")]+)/);
  const { href } = new URL(source, rule.parentStyleSheet.href ?? location.href);
  if (!FONTS.has(href)) FONTS.set(href, fetch(href).then((answer) => answer.blob()).then(asDataUrl));
  return FONTS.get(href);
}

function asDataUrl(blob) {
  return new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(blob);
  });
}
