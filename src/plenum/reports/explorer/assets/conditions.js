// The list of conditions: a forest plot that one chooses from.

function nameOf(condition) {
  const told = index.differing.map((name) => condition.factors[name]);
  const usual = ["none", "default", "deliberation"];
  const kept = told.filter((value) => !usual.includes(value));
  if (kept.length) return kept.join(" · ");
  return index.named.map((name) => `${name} ${condition.factors[name]}`).join(" · ");
}

function estimateOf(condition) {
  if (condition.lambda === undefined) return condition.status.replaceAll("_", " ");
  const { symbol: letter, lambda, low, high } = condition;
  return `${letter} ${fixed(lambda, 3)} ${interval(low, high)}`;
}

function realised(condition) {
  const { n, target, failed, pending } = condition;
  const rest = [failed && `${failed} failed`, pending && `${pending} pending`].filter(Boolean);
  return [`n ${n}/${target}`, ...rest].join(", ");
}

// The range of all intervals, 0 included.
function forestRange() {
  const ends = index.conditions.flatMap((c) => [c.low, c.high, c.lambda]);
  const known = ends.filter((end) => Number.isFinite(end));
  if (!known.length) return null;
  const low = Math.min(0, ...known);
  const high = Math.max(0, ...known);
  const room = (high - low || 0.1) * 0.04;
  return [low - room, high + room];
}

function forest(condition, range) {
  if (!range || condition.lambda === undefined) return null;
  const x = (value) => (100 * (value - range[0])) / (range[1] - range[0]);
  const line = (from, to, kind, height) =>
    svg("line", { x1: from, x2: to, y1: 5 - height, y2: 5 + height, class: kind });
  const limits = Number.isFinite(condition.low)
    ? line(x(condition.low), x(condition.high), "limits", 0)
    : null;
  return svg(
    "svg",
    { class: "forest", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    line(x(0), x(0), "zero", 5),
    limits,
    line(x(condition.lambda), x(condition.lambda), "point", 3.5),
  );
}

function conditionItem(condition, number, range) {
  const warnings = condition.warnings.length
    ? el("span", { class: "small warn" }, `⚠ ${condition.warnings.join(" ")}`)
    : null;
  const item = el(
    "li",
    { role: "option", id: `condition-${number}`, "data-number": number, tabindex: -1 },
    said("span", { class: "name" }, nameOf(condition)),
    el("span", { class: "small" }, `${estimateOf(condition)}`),
    forest(condition, range),
    el("span", { class: "small quiet" }, realised(condition)),
    warnings,
  );
  item.addEventListener("click", () => chooseCondition(number));
  return item;
}

function listConditions() {
  const range = forestRange();
  const list = byId("conditions");
  show(list, index.conditions.map((condition, number) => conditionItem(condition, number, range)));
  if (range)
    show(byId("axis"), el("span", {}, fixed(range[0], 2)), el("span", {}, `${index.axis}, dotted: 0`),
      el("span", {}, fixed(range[1], 2)));
  list.addEventListener("keydown", (event) =>
    rove(event, [...list.children].filter((item) => !item.hidden), (item) =>
      chooseCondition(Number(item.dataset.number))));
  byId("filter").addEventListener("input", filterConditions);
  filterConditions();
}

function filterConditions() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  let left = 0;
  for (const item of byId("conditions").children) {
    const { factors, warnings, id } = index.conditions[item.dataset.number];
    const named = Object.entries(factors).map(([name, value]) => `${name}=${value}`);
    const text = [...named, ...warnings, id].join(" ").toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
    left += !item.hidden;
  }
  const all = index.conditions.length;
  show(byId("conditions-count"), left === all ? `${all}` : `${left} of ${all}`);
  reachable([...byId("conditions").children], (item) => item.getAttribute("aria-selected") === "true");
}

function markCondition(number) {
  for (const item of byId("conditions").children) {
    const chosen = Number(item.dataset.number) === number;
    item.setAttribute("aria-selected", chosen);
    if (chosen) bringIntoSight(item, byId("conditions"));
  }
  reachable([...byId("conditions").children], (item) => item.getAttribute("aria-selected") === "true");
}

// Scrolls the list alone: scrollIntoView would make Tab go on from the item instead of the top.
function bringIntoSight(item, list) {
  const [own, area] = [item.getBoundingClientRect(), list.getBoundingClientRect()];
  if (own.top < area.top) list.scrollTop -= area.top - own.top;
  else if (own.bottom > area.bottom) list.scrollTop += own.bottom - area.bottom;
}

// One item of a list is reached by Tab, the others by arrows.
function reachable(items, preferred) {
  const shown = items.filter((item) => !item.hidden);
  const one = shown.find(preferred) ?? shown[0];
  for (const item of items) item.tabIndex = item === one ? 0 : -1;
}

function rove(event, items, choose) {
  const here = items.indexOf(event.target.closest("[tabindex]"));
  if (here < 0) return;
  const steps = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: items.length - 1 };
  steps.PageDown = Math.min(here + 10, items.length - 1);
  steps.PageUp = Math.max(here - 10, 0);
  if (event.key in steps) {
    const next = items[steps[event.key]];
    if (next) {
      for (const item of items) item.tabIndex = item === next ? 0 : -1;
      next.focus();
    }
  } else if (event.key === "Enter" || event.key === " ") choose(items[here]);
  else return;
  event.preventDefault();
}
