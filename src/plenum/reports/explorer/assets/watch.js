// Watch: how far a study is, while a sweep runs it and afterwards.

const watched = { told: null, rows: new Map(), counts: new Map(), timer: 0, turn: 0, gone: false };
const PARTS = [["completed", "c2"], ["failed", "c1"], ["damaged", "c4"], ["running", "c0"], ["pending", null]];
const WATCH_COLUMNS = ["condition", "replicates", "decisions so far", "D(t) so far", "growth so far", "calls", "tokens", "cost", "last activity"];
const inThousands = (count) => (count === null ? "–" : count.toLocaleString("en"));
const failedOf = ({ failed }) => (failed !== null && typeof failed === "object" ? Object.values(failed).reduce((a, b) => a + b, 0) : failed);
const partOf = (counts, name) => (name === "failed" ? failedOf(counts) : counts[name]) ?? 0;
const countsListed = (counts) => Object.entries(counts).map(([name, n]) => `${name === "NONE" ? "no majority" : name} ${n}`).join(", ");

function timeTold(seconds) {
  const [unit, size] = [["d", 86400], ["h", 3600], ["min", 60]].find(([, size]) => seconds >= 2 * size) ?? ["s", 1];
  return `${Math.round(seconds / size)} ${unit}`;
}

function costOf({ dollars, unpriced }) {
  if (dollars === null) return "–";
  const rest = unpriced ? `${inThousands(unpriced)} unpriced` : "";
  return unpriced && !dollars ? `unknown: ${rest}` : [`$${fixed(dollars, dollars >= 1 ? 2 : 4)}`, rest].filter(Boolean).join(" + ");
}

// Counts in words; only those that aren't 0, but for what completed and is pending.
function countsTold(counts) {
  const shown = PARTS.map(([name]) => [name, partOf(counts, name)]).filter(([name, n]) => n || name === "completed" || name === "pending");
  const of = (name) => (name === "completed" ? ` of ${inThousands(counts.target)}` : "");
  const reasons = typeof counts.failed === "object" && failedOf(counts) ? ` (${countsListed(counts.failed)})` : "";
  return shown.map(([name, n]) => `${inThousands(n)}${of(name)} ${name}${name === "failed" ? reasons : ""}`).join(", ");
}

const countsBar = (counts) => sharesBar(PARTS.filter(([, kind]) => kind).map(([name, kind]) => [(100 * partOf(counts, name)) / Math.max(1, counts.target), kind]));

function sparkline(level, top) {
  if (!level.length) return "–";
  const points = level.map((value, t) => `${((100 * t) / Math.max(1, level.length - 1)).toFixed(1)},${(23 - (22 * value) / (top || 1)).toFixed(1)}`);
  const line = svg("path", { d: `M${points.join("L")}${level.length === 1 ? "H100" : ""}`, class: "curve level" });
  return [svg("svg", { viewBox: "0 0 100 24", preserveAspectRatio: "none", class: "spark", "aria-hidden": "true" }, line), ` D(${level.length}) = ${brief(level.at(-1))}`];
}

function watchCells(c, top) {
  const told = c.completed === null ? "unknown: its journals aren't on this machine" : countsTold(c);
  return [
    [countsBar(c), told], c.decisions && countsListed(c.decisions) || "–", sparkline(c.D, top),
    c.growth === null ? "–" : `${fixed(100 * Math.expm1(c.growth), 1)} % a round`,
    inThousands(c.calls), c.tokens_in === null ? "–" : `${inThousands(c.tokens_in)} in, ${inThousands(c.tokens_out)} out`, costOf(c),
    c.idle_s === null ? "–" : `${timeTold(c.idle_s)} ago`,
  ];
}

// Puts elements into a box; those that are there already, or equal the one in their place, aren't
// touched, so that focus, selection and what is unfolded stay.
function keepIn(box, fresh) {
  fresh.forEach((each, k) => {
    const old = box.children[k];
    if (old === each || old?.isEqualNode(each)) return;
    if (old && !fresh.includes(old) && !box.contains(each)) old.replaceWith(each);
    else box.insertBefore(each, old ?? null);
  });
  while (box.children.length > fresh.length) box.lastChild.remove();
}

function watchRow(c, top, number) {
  const row = watched.rows.get(c.cell) ?? el("tr", { role: "row" });
  watched.rows.set(c.cell, row);
  const name = number === undefined ? said("bdi", {}, c.name) : said("button", { type: "button", "data-cell": c.cell, tabindex: row.querySelector("button")?.tabIndex ?? -1, title: "Open its replicates" }, c.name);
  const cells = [el("th", { role: "rowheader", scope: "row" }, name), ...watchCells(c, top).map((cell, k) => el("td", { role: "cell", "data-head": WATCH_COLUMNS[k + 1] }, cell))];
  keepIn(row, cells);
  return row;
}

function drawWatch(told) {
  byId("watched").classList.toggle("bare", Boolean(state.sides)); // worlds have no preferences
  byId("watch-told").hidden = Boolean(state.sides);
  const numbers = new Map(index.conditions.map((condition, number) => [condition.cell, number]));
  const top = told.conditions.reduce((most, { D }) => D.reduce((a, b) => Math.max(a, b), most), 0);
  const body = document.querySelector("#watched tbody");
  keepIn(body, told.conditions.map((c) => watchRow(c, top, numbers.get(c.cell))));
  const buttons = [...body.querySelectorAll("button")];
  if (!buttons.some((button) => button.tabIndex === 0)) reachable(buttons, () => false);
  keepIn(byId("watch-totals"), watchTotals(told));
  drawFailures(told.failures);
}

function watchTotals({ running, time, left_s, rate, totals, budget }) {
  const asOf = live() ? [] : [`As of ${new Date(1000 * time).toISOString().slice(0, 16).replace("T", " ")} UTC, when this page was written: `];
  const left = left_s === null ? "The time left can't be told yet." : `About ${timeTold(left_s)} left, at ${brief(rate)} calls a second.`;
  const lines = [
    el("p", {}, asOf, el("b", {}, running ? "A sweep is running. " : "No sweep is running. "), running ? left : ""),
    el("p", {}, `${plural(totals.conditions, "condition")}. Replicates: ${countsTold(totals)}${totals.unknown ? `, ${inThousands(totals.unknown)} unknown` : ""}.`),
    el("p", {}, `${inThousands(totals.calls)} calls, ${inThousands(totals.tokens_in)} tokens in, ${inThousands(totals.tokens_out)} out; cost ${costOf(totals)}.`,
      totals.elsewhere ? ` Without ${plural(totals.elsewhere, "condition")} whose journals aren't on this machine.` : ""),
  ];
  for (const [name, spent] of Object.entries({ ...totals.spent, tokens: totals.spent.tokens_in + totals.spent.tokens_out })) {
    const most = budget?.[name] ?? null;
    const amount = (value) => (name === "dollars" ? `$${fixed(value, value >= 1 ? 2 : 4)}` : inThousands(value));
    if (most !== null) lines.push(el("p", { class: "budget" }, `Budget: ${amount(spent)} of ${amount(most)}${name === "dollars" ? "" : ` ${name}`} spent so far by the journals, earlier sweeps of these conditions among them `, el("progress", { max: most || 1, value: spent, "aria-label": `${name} spent of the budget` })));
  }
  return lines;
}

function drawFailures(failures) {
  const list = byId("watch-failures");
  const there = new Map([...list.children].map((item) => [item.dataset.key, item]));
  const item = (each) => {
    const { cell, n, reason, wrote } = each;
    const key = JSON.stringify([cell, n, reason, wrote]);
    if (there.has(key)) return there.get(key);
    const why = [reason, place(each.at), each.detail].filter(Boolean).join(" · ");
    const answer = wrote ? el("details", {}, el("summary", {}, "what the model wrote"), said("p", { class: "words" }, wrote)) : wrote === "" && " · the answer is empty";
    return el("li", { "data-key": key }, said("b", {}, `${each.condition} #${n}`), said("span", {}, ` · ${why}`), answer);
  };
  keepIn(list, failures.map(item));
  byId("watch-none").hidden = failures.length > 0;
}

function tellNews(before, { running, totals, failures }) {
  const [more, last] = [totals.failed - before.totals.failed, failures.find(({ status }) => status === "failed")];
  const news = [
    running !== before.running && (running ? "A sweep has begun." : `The sweep ended: ${countsTold(totals)}.`),
    more > 0 && `${plural(more, "more replicate")} failed${last ? `, the last one ${last.condition} #${last.n}: ${last.reason}` : ""}.`,
  ].filter(Boolean);
  if (news.length) show(byId("watch-news"), said("span", {}, news.join(" ")));
}

// What was drawn of a condition whose counts changed is out of date, and so is the index.
async function followStudy(told) {
  const { told: before, counts: known } = watched;
  const counts = new Map(told.conditions.map((c) => [c.cell, JSON.stringify([c.completed, c.failed, c.damaged, c.running, c.pending])]));
  const changed = (cell) => before && (told.running !== before.running || counts.get(cell) !== known.get(cell));
  const some = told.conditions.some(({ cell }) => changed(cell));
  Object.assign(watched, { told, counts });
  if (before) tellNews(before, told);
  drawWatch(told);
  if (!some && !watched.gone) return;
  await refreshIndex(changed); // a server that was started anew knows the index of none before
  drawWatch(told);
}

async function refreshIndex(changed) {
  const order = () => index.conditions.map(({ id }) => id).join();
  const before = order();
  unpacked.delete("index");
  index = await block("index");
  const moved = order() !== before; // other conditions have their numbers now
  index.conditions.forEach(({ cell }, number) => (moved || changed(cell)) && ["figures", "talk"].forEach((name) => unpacked.delete(`${name}-${number}`)));
  for (const seen of state.sides ? Object.values(state.sides) : [state]) {
    const number = numberOf(seen?.entry?.id);
    if (number < 0) continue;
    Object.assign(seen, { number, entry: index.conditions[number] });
    if (changed(seen.entry.cell)) byId("fresh").hidden = false;
  }
  if (state.sides?.left) state.number = state.sides.left.number;
  aboutStudy();
  drawConditions();
  if (!state.entry) await openReplicates(null);
}

async function poll() {
  clearTimeout(watched.timer);
  if (!index) return void (watched.timer = setTimeout(poll, 3000));
  const turn = ++watched.turn;
  unpacked.delete("watch");
  try {
    await followStudy(await block("watch"));
    if (watched.gone) show(byId("watch-news"), "The server answers again.");
    watched.gone = false;
  } catch (error) {
    const again = `This page can't be updated: ${error.message}. This starts the server again: python scripts/explore.py study=${index.study} live=true`;
    if (!watched.gone) show(byId("watch-news"), said("b", { class: "warn" }, again));
    watched.gone = true;
  }
  if (turn === watched.turn) watched.timer = setTimeout(poll, document.hidden || !watched.told?.running ? 10000 : 3000);
}

async function openCell(cell) {
  const number = index.conditions.findIndex((condition) => condition.cell === cell);
  await figures(number);
  chooseView("replicates");
  await chooseCondition(number);
  byId("condition-title").focus();
}

function watchTable({ conditions }) {
  const rounds = Math.max(0, ...conditions.map(({ D }) => D.length));
  const plain = ["cell", "target", "completed", "damaged", "running", "pending", "growth", "calls", "tokens_in", "tokens_out", "dollars", "unpriced", "idle_s"];
  const head = ["condition", "failed", "reasons", "decisions", ...plain, ...Array.from({ length: rounds }, (_, t) => `D_${t + 1}`)];
  return [head, ...conditions.map((c) => [c.name, failedOf(c), countsListed(c.failed ?? {}), countsListed(c.decisions ?? {}), ...plain.map((name) => c[name]), ...c.D])];
}

function watchNumbers({ time, running, left_s, rate, totals: { spent, ...totals }, budget }) {
  const named = (start, values) => Object.entries(values ?? {}).map(([name, value]) => [`${start}${name}`, value]);
  return [["name", "value"], ...named("", { time, running, left_s, rate, ...totals }), ...named("spent_", spent), ...named("budget_", budget)];
}

function listenToWatch() {
  const body = document.querySelector("#watched tbody");
  const open = (button) => openCell(button.dataset.cell).catch((error) => show(byId("watch-news"), `It can't be opened: ${error.message}`));
  show(document.querySelector("#watched thead"), el("tr", { role: "row" }, WATCH_COLUMNS.map((name) => el("th", { scope: "col", role: "columnheader" }, name))));
  body.addEventListener("click", (event) => event.target.closest("button") && open(event.target.closest("button")));
  rove(body, "button");
  fill(byId("watch-tools"), {}, ["Conditions ", csvButton("watch-conditions", () => watchTable(watched.told)), " Totals ", csvButton("watch-totals", () => watchNumbers(watched.told))]);
  byId("fresh").addEventListener("click", () => showAgain());
  if (!live()) return;
  watched.timer = setTimeout(poll, 3000);
  document.addEventListener("visibilitychange", () => document.hidden || poll());
}

if (live() || byId("watch")) {
  listenToWatch();
  views.set("watch", async () => {
    setLink(new URLSearchParams(), "watch");
    if (live()) await poll();
    else drawWatch((watched.told = await block("watch")));
  });
} else document.querySelector('[data-view="watch"]').hidden = true;
