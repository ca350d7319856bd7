// The list of conditions: a forest plot that one chooses from.

function conditionItem(condition, number, range) {
  const named = { id: `condition-${number}`, "data-number": number, "data-id": condition.id };
  return el("li", { role: "option", tabindex: -1, ...named, onclick: () => chooseCondition(number) },
    said("span", { class: "name" }, condition.name),
    el("span", { class: "small" }, `${estimateOf(condition)}`),
    forest(condition, range),
    el("span", { class: "small quiet" }, realised(condition)),
    condition.warnings.length > 0 && el("span", { class: "small warn" }, `⚠ ${condition.warnings.join(" ")}`));
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
  rove(byId("conditions"), "li:not([hidden])");
  byId("filter").addEventListener("input", filterConditions);
  drawConditions();
}

function filterConditions() {
  const words = searched(byId("filter").value);
  const items = [...byId("conditions").children];
  for (const item of items) item.hidden = !matches(index.conditions[item.dataset.number], words);
  const [left, all] = [items.filter((item) => !item.hidden).length, items.length];
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

const factorsApart = (one, other) => index.differing.filter((name) => one.factors[name] !== other.factors[name]).length;
