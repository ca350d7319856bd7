// The list of conditions: a forest plot that one chooses from.

function conditionItem(condition, number, range) {
  const warnings = condition.warnings.length
    ? el("span", { class: "small warn" }, `⚠ ${condition.warnings.join(" ")}`)
    : null;
  const item = el(
    "li",
    { role: "option", id: `condition-${number}`, "data-number": number, "data-id": condition.id, tabindex: -1 },
    said("span", { class: "name" }, condition.name),
    el("span", { class: "small" }, `${estimateOf(condition)}`),
    forest(condition, range),
    el("span", { class: "small quiet" }, realised(condition)),
    warnings,
  );
  item.addEventListener("click", () => chooseCondition(number));
  return item;
}

// Draws the list, anew where the index was read again: focus and place in it stay.
function drawConditions() {
  const range = forestRange(index.conditions);
  const list = byId("conditions");
  const [top, focused] = [list.scrollTop, list.contains(document.activeElement) && document.activeElement.dataset.id];
  show(list, index.conditions.map((condition, number) => conditionItem(condition, number, range)));
  tellAxis(range);
  markCondition(state.number);
  filterConditions();
  list.scrollTop = top;
  if (focused) [...list.children].find((item) => item.dataset.id === focused)?.focus({ preventScroll: true });
}

function listConditions() {
  const list = byId("conditions");
  list.addEventListener("keydown", (event) =>
    rove(event, [...list.children].filter((item) => !item.hidden), (item) =>
      chooseCondition(Number(item.dataset.number))));
  byId("filter").addEventListener("input", filterConditions);
  drawConditions();
}

function filterConditions() {
  const words = searched(byId("filter").value);
  let left = 0;
  for (const item of byId("conditions").children) {
    item.hidden = !matches(index.conditions[item.dataset.number], words);
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
