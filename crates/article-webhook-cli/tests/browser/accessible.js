// What keeps a person from reading or using the page: names that are missing, ids that stand twice, headings that skip a level,
// and text that is hard to tell from its ground (WCAG 2.2: 1.1.1, 1.3.1, 1.4.3, 2.4.4, 4.1.2). Returns a sentence for each.
const found = [];
const say = (what, element) => found.push(`${what}: ${element.outerHTML.slice(0, 120)}`);
const seen = (element) => element.checkVisibility() && !element.closest("[aria-hidden=true], dialog:not([open])");

const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`the id ${id} stands twice`);
for (const name of ["aria-labelledby", "for"]) {
  for (const element of document.querySelectorAll(`[${name}]`)) {
    if (!document.getElementById(element.getAttribute(name))) say(`nothing has the id of ${name}`, element);
  }
}
for (const element of document.querySelectorAll("a, button, input:not([type=hidden]), iframe, img, svg, table, nav, summary")) {
  const text = element.matches("a, button, summary") ? element.textContent : "";
  const label = element.labels?.[0]?.textContent ?? element.caption?.textContent ?? "";
  const given = ["aria-label", "title", "alt", "aria-labelledby"].map((name) => element.getAttribute(name)).join("");
  const isDecoration = element.getAttribute("alt") === "" || (element.matches("table") && element.closest("section, [role=region]"));
  if (seen(element) && !isDecoration && !(text + label + given).trim()) say("it has no name", element);
}
const label = (element) => element.getAttribute("aria-label");
for (const button of document.querySelectorAll("button[aria-label]")) {
  if (!label(button).includes(button.textContent.trim())) say("its name has not the words on it", button);
}
for (const cell of document.querySelectorAll("th")) if (!cell.scope) say("it has no scope", cell);
let level = 0;
for (const heading of [...document.querySelectorAll("h1, h2, h3, h4")].filter(seen)) {
  const next = Number(heading.tagName[1]);
  if (level && next > level + 1) say("a level is skipped before it", heading);
  level = next;
}
if ([...document.querySelectorAll("h1")].filter(seen).length !== 1) found.push("there is not one h1");

// Contrast. A colour that is not opaque lies on that below it.
const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
const light = ([red, green, blue]) => {
  const [r, g, b] = [red, green, blue].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
function ground(element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour.length < 4 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
}
const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (words.nextNode()) {
  const element = words.currentNode.parentElement;
  const isText = words.currentNode.data.trim() && seen(element) && !element.closest("script, noscript, svg, .hidden, :disabled");
  if (!isText) continue;
  const [ink, below] = [light(parse(getComputedStyle(element).color)), light(ground(element))];
  const contrast = (Math.max(ink, below) + 0.05) / (Math.min(ink, below) + 0.05);
  if (contrast < 4.5) say(`a contrast of ${contrast.toFixed(2)}`, element);
}
return found;
