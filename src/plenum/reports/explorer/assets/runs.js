// The list of a condition's runs: what each came to, failures among them.

const SEAT_COLUMNS = ["agent", "role", "role text", "model"];

function estimateTold(f, entry) {
  if (entry.lambda === undefined) return `no ${entry.symbol}: ${index.meanings[entry.status] ?? entry.status.replaceAll("_", " ")}`;
  return `${entry.symbol} ${fixed(entry.lambda, 3)} ${interval(entry.low, entry.high)}, mean over episodes`;
}

function prepare(found) {
  found.last = Math.max(1, ...found.replicates.map((replicate) => replicate.course.length));
}

function listRuns() {
  const { f, entry } = state;
  const columns = [
    ["no.", (r) => `#${r.n}`],
    ["world", (r) => `${r.episode ?? "–"}`],
    ["status", (r) => r.status],
    ["rounds", (r) => `${r.course.length}`],
    ...f.metrics.filter((name) => f.replicates.some((r) => name in r.metrics)).map((name) => [name.replaceAll("_", " "), (r) => fixed(r.metrics[name], 2)]),
  ];
  const head = columns.map(([name]) => el("th", { scope: "col", role: "columnheader" }, name));
  const rows = f.replicates.map((replicate) => {
    const cells = columns.map(([, cell], k) => el(k ? "td" : "th", { role: k ? "gridcell" : "rowheader", scope: k ? null : "row" }, cell(replicate)));
    const row = el("tr", { role: "row", tabindex: -1, "data-n": replicate.n, class: replicate.status }, cells);
    row.addEventListener("click", () => chooseRun("left", replicate.n));
    return row;
  });
  show(byId("list"), el("thead", {}, el("tr", { role: "row" }, head)), el("tbody", {}, rows));
  markRuns();
  missing(f, entry);
}

const rowsOfList = () => [...document.querySelectorAll("#list tbody tr")];

function markRuns() {
  const { left, right } = state.sides;
  for (const row of rowsOfList()) {
    const here = [left, right].map(({ number, replicate }) => number === state.number && replicate?.n === Number(row.dataset.n));
    row.setAttribute("aria-selected", here[0] || here[1]);
    row.dataset.side = here[0] ? "left" : here[1] ? "right" : "";
  }
  const rows = rowsOfList();
  if (!rows.some((row) => row.tabIndex === 0)) reachable(rows, (row) => row.dataset.side === "left");
}
