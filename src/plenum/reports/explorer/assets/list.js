// Lists that one chooses from, and what is missing in them: one item is reached by Tab, the others by arrows.

function reachable(items, preferred) {
  const shown = items.filter((item) => !item.hidden);
  const one = shown.find(preferred) ?? shown[0];
  for (const item of items) item.tabIndex = item === one ? 0 : -1;
}

// Arrows move through what `find` gives; Enter and the space bar click it.
function rove(list, find) {
  list.addEventListener("keydown", (event) => {
    const items = [...list.querySelectorAll(find)];
    const here = items.indexOf(event.target.closest("[tabindex]"));
    if (here < 0) return;
    const steps = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: items.length - 1 };
    steps.PageDown = Math.min(here + 10, items.length - 1);
    steps.PageUp = Math.max(here - 10, 0);
    const next = items[steps[event.key]];
    if (next) {
      reachable(items, (item) => item === next);
      next.focus();
    } else if (event.key === "Enter" || event.key === " ") items[here].click();
    else if (!(event.key in steps)) return;
    event.preventDefault();
  });
}

// Replicates as rows; a column has a name, what it says of a replicate, and perhaps a title.
function listReplicates() {
  const columns = columnsOf(state.f);
  const head = columns.map(([name, , title]) => el("th", { scope: "col", role: "columnheader", title }, name));
  const rows = ordered(state.f).map((replicate) => {
    const cells = columns.map(([, cell], k) => el(k ? "td" : "th", { role: k ? "gridcell" : "rowheader", scope: k ? null : "row" }, cell(replicate)));
    return el("tr", { role: "row", tabindex: -1, class: replicate.status, ...chosenBy(replicate.n) }, cells);
  });
  show(byId("list"), el("thead", {}, el("tr", { role: "row" }, head)), el("tbody", {}, rows));
  markPair();
  missing(state.f, state.entry);
}

// What stands for a replicate is lifted with all that does, and chooses it.
const chosenBy = (n) => ({ "data-n": n, onclick: () => chooseReplicate(n), onpointerenter: () => lift(n, true), onpointerleave: () => lift(n, false) });

function lift(number, on) {
  for (const node of document.querySelectorAll(`[data-n="${number}"]`)) node.classList.toggle("hot", on);
}

function markPair() {
  const rows = [...document.querySelectorAll("#list tbody tr")];
  for (const row of rows) {
    row.dataset.side = sideOf(Number(row.dataset.n));
    row.setAttribute("aria-selected", Boolean(row.dataset.side));
  }
  if (!rows.some((row) => row.tabIndex === 0)) reachable(rows, (row) => row.dataset.side === "left");
}

// The two numbers of replicates whose score is highest, each with those after it or with `others`.
function best(replicates, score, others = (k) => replicates.slice(k + 1)) {
  let [pair, most] = [null, -1];
  replicates.forEach((a, k) => {
    for (const b of others(k)) {
      const found = score(a, b);
      if (found > most) [pair, most] = [[a.n, b.n], found];
    }
  });
  return pair;
}

function missing(f, { target, n, failed, damaged, pending: open }) {
  show(byId("replicates-count"), `${target} wanted = ${n} completed + ${failed} failed${damaged ? ` + ${damaged} damaged` : ""} + ${open} pending.`);
  const rest = f.replicates.filter((replicate) => !["completed", "pending"].includes(replicate.status));
  const pending = f.replicates.filter((replicate) => replicate.status === "pending");
  const lines = rest.map((replicate) => el("li", {},
    el("b", {}, `#${replicate.n} ${replicate.status}`),
    said("span", {}, [replicate.reason, place(replicate.at), replicate.detail, begins(replicate.wrote)].filter(Boolean).map((text) => ` · ${text}`).join(""))));
  if (pending.length) lines.push(el("li", {}, el("b", {}, `${pending.length} pending`), ` · begun, not ended: ${pending.map((r) => `#${r.n}`).join(", ")}`));
  if (f.unbegun) lines.push(el("li", {}, el("b", {}, plural(f.unbegun, "replicate")), " not begun, or without a transcript in the store"));
  const hidden = f.replicates.filter((replicate) => replicate.shown === false).length;
  if (hidden) lines.push(el("li", {}, el("b", {}, plural(hidden, "transcript")), " left out of this page to keep it small; their outcomes are here"));
  show(byId("missing"), el("h4", {}, "Failures and what is missing"),
    lines.length ? el("ul", {}, lines) : el("p", { class: "told" }, "None: every replicate completed."));
}

const begins = (wrote) => wrote !== undefined && (wrote ? `the answer begins: ${wrote}` : "the answer is empty");
const place = (at) => at && [at.call, at.round && `round ${at.round}`, at.seat].filter(Boolean).join(", ");
