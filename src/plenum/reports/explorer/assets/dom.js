// Elements made of names and texts. Data reach the page through textContent alone.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

// Characters that show nothing, or turn the direction of what follows; told, not obeyed.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const codeOf = (character) => `\u27e8U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
const visible = (text) => String(text).replace(UNSEEN, codeOf);
const given = (value) => (value ?? false) !== false;

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (given(value)) element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity).filter(given))
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  return element;
}

const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// A text of a size that the drawing decides, in its own units.
function sized(size, attributes, text) {
  const node = svg("text", attributes, text);
  node.style.fontSize = `${size}px`;
  return node;
}

// A small picture that says nothing that words don't say.
const glyph = (kind, viewBox, ...parts) => svg("svg", { class: kind, viewBox, "aria-hidden": "true" }, parts);

// Parts of 100 next to each other: [share, class].
function sharesBar(shares) {
  let x = 0;
  const bar = glyph("shares", "0 0 100 8", shares.map(([width, kind]) => svg("rect", { x: (x += width) - width, y: 0, width, height: 8, class: kind })));
  return fill(bar, { preserveAspectRatio: "none" }, []);
}

// How often each value occurs, those of `first` before all others.
function countsOf(first, values) {
  const counts = new Map(first.map((value) => [value, 0]));
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

// A text of a model or a user: its direction is its own and ends where it ends.
const said = (name, attributes, text) => el(name, { dir: "auto", ...attributes }, text);

function show(element, ...children) {
  element.replaceChildren();
  return fill(element, {}, children);
}

// A table of texts, the first of each row its name; rows may be elements.
function table(head, rows, tell = (value) => value, attributes = {}) {
  const row = ([name, ...values]) => el("tr", {}, said("th", { scope: "row" }, name), values.map((value) => said("td", {}, tell(value))));
  return el("table", attributes,
    el("thead", {}, el("tr", {}, head.map((name) => said("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map((each) => (each instanceof Node ? each : row(each)))));
}

function choices(select, pairs, chosen) {
  show(select, pairs.map(([value, name]) => el("option", { value }, name)));
  select.value = chosen;
}

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Numbers as a reader wants them: fixed digits, a true minus, a dash for none.
const fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits).replace(/^-/, "−") : "–");

function brief(value) {
  if (!value) return value === 0 ? "0" : "–";
  const text = Math.abs(value) < 0.0001 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
  return text.replaceAll("-", "−");
}

const interval = (low, high, digits = 3) => low === null || low === undefined ? "[no interval]" : `[${fixed(low, digits)}, ${fixed(high, digits)}]`;

const plural = (count, one, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;
