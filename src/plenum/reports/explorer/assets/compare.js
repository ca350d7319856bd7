// Two conditions side by side: levels, decisions, switches, D(t), and one replicate of each.

const compared = { sides: null, n: [], round: 1, parting: null, wanted: 0 };
const COMPARED = [["left", "level"], ["right", "pair"]]; // names of the sides, and of their lines

// The two that differ in fewest factors, the preferred condition among them; of such pairs one whose
// replicates decide differently. Conditions without a transcript come last.
function closestPair(preferred) {
  const cost = (one, other) => 1e6 * (preferred >= 0 && ![one.n, other.n].includes(preferred))
    + 1e4 * !(one.transcripts && other.transcripts) + 10 * factorsApart(one, other) + !(one.split || other.split);
  const pair = best(index.conditions.map((entry, n) => ({ ...entry, n })), (one, other) => 1 / (1 + cost(one, other))) ?? [0, 0];
  return pair[1] === preferred ? pair.reverse() : pair;
}

async function compareConditions(numbers, { n = [], round = null } = {}) {
  const wanted = ++compared.wanted;
  show(byId("compare-told"), "Reading…");
  const read = await Promise.all(numbers.map((number) => Promise.all([figures(number), block(`talk-${number}`)]))).catch(untold);
  if (wanted !== compared.wanted) return; // others were chosen meanwhile
  const sides = read.map(([f, talk], k) => ({ f, talk, entry: index.conditions[numbers[k]] }));
  Object.assign(compared, { sides, n: tellingReplicates(sides, n) });
  ["c", "d"].forEach((side, k) => choices(byId(`compare-${side}`), index.conditions.map(({ id, name }) => [id, name]), sides[k].entry.id));
  ["a", "b"].forEach((side, k) => choices(byId(`compare-${side}`), readable(sides[k]).map((r) => [`${r.n}`, `#${r.n} ${outcome(r, sides[k].f)}`]), `${compared.n[k]}`));
  drawCompared();
  drawSaid(round);
}

function untold(error) {
  show(byId("compare-told"), `This couldn't be read: ${error.message}`);
  throw error;
}

const readable = ({ f }) => f.replicates.filter((r) => r.shown !== false && r.status !== "damaged");

// The replicates that are asked for; else two of one number, that decide differently if any do.
function tellingReplicates(sides, asked) {
  const [left, right] = sides.map(readable);
  const same = left.flatMap((r) => right.filter((other) => other.n === r.n).map((other) => [r, other]));
  const split = same.find(([r, other]) => r.decision && other.decision && r.decision !== other.decision);
  const usual = split ?? same[0] ?? [left[0], right[0]];
  return [left, right].map((those, k) => (those.find((r) => r.n === asked[k]) ?? usual[k])?.n);
}

// A side without a transcript knows the letters of its options alone.
const optionsAlike = ([{ f: { options } }, { f: { options: others } }]) => options.length === others.length &&
  options.every(([label, name], k) => label === others[k][0] && (name === others[k][1] || !name || !others[k][1]));
const sameCase = ([left, right]) => left.entry.factors.scenario === right.entry.factors.scenario;
const comparable = (sides) => sameCase(sides) && optionsAlike(sides);

// What can't be compared, in sentences.
function limitsOf(sides) {
  const [left, right] = sides;
  const seats = sides.map(({ f }) => f.seats.map(({ seat }) => seat));
  const alone = seats.map((names, k) => names.filter((seat) => !seats[1 - k].includes(seat)));
  const rounds = sides.map(({ f }) => f.rounds);
  return [
    left.entry.id === right.entry.id && (index.conditions.length > 1 ? "Both sides are the same condition." : "This page has one condition; two are needed."),
    !sameCase(sides) && `The cases differ (${left.entry.factors.scenario}, ${right.entry.factors.scenario}): decisions and texts can't be compared, and differing words aren't marked.`,
    sameCase(sides) && !optionsAlike(sides) && "The options differ: decisions, preferences and D(t) can't be compared, and differing words aren't marked.",
    rounds[0] !== rounds[1] && `The left has ${plural(rounds[0], "round")}, the right ${rounds[1]}: rounds after ${Math.min(...rounds)} can't be compared.`,
    ...alone.map((names, k) => names.length > 0 && `Seats on the ${COMPARED[k][0]} alone: ${names.join(", ")}.`),
  ].filter(Boolean);
}

// The table in groups: a title, rows of a name and a value for each side, and how a value is told.
function comparedGroups(sides) {
  const rows = (read) => [...new Set(sides.flatMap(read).map(([name]) => name))].map((name) => [name, sides.map((side) => read(side).find(([of]) => of === name)?.[1] ?? null)]);
  const named = optionsAlike(sides) && sides.map(({ f }) => f.options).find(([first]) => first[1]);
  const decisions = ({ entry, f }) => [...f.options.map(([label]) => label), "NONE"].map((label) => [decided(label, named || f.options), entry.decisions[label] ?? 0]);
  const counted = rows(decisions).filter(([name, counts]) => name !== decided("NONE") || counts.some(Boolean));
  const facts = ({ f }) => f.facts.filter(([name]) => !name.startsWith("decisions ("));
  const warned = ({ entry }) => entry.warnings.map((name) => `${name.replaceAll("_", " ")} (${index.meanings[name] ?? "see docs/estimates.md"})`).join("; ") || "none";
  return [
    ["Levels that differ", levelsOf(sides, false)],
    ["Decisions", counted, (count, { entry }) => `${count}${entry.n ? ` (${Math.round((100 * count) / entry.n)} %)` : ""}`],
    ["Replicates", rows(({ entry }) => [["completed", entry.n], ["failed", entry.failed], ["pending", entry.pending]])],
    ["Estimates", [...rows(({ f, entry }) => [["fitted growth", estimateTold(f, entry)]]), ...rows(facts), ["warnings", sides.map(warned)]]],
    ["Mean switches of top option, by seat", rows(({ f }) => f.switches), (mean) => fixed(mean, 2)],
  ].filter(([, listed]) => listed.length);
}

const levelsOf = ([{ entry: { factors } }, { entry: { factors: others } }], alike) => Object.keys({ ...factors, ...others })
  .filter((name) => (factors[name] === others[name]) === alike).map((name) => [name, [factors[name], others[name]]]);

function drawCompared() {
  const { sides } = compared;
  const groups = comparedGroups(sides);
  const differing = levelsOf(sides, false).length;
  show(byId("compare-told"), `${plural(differing, "factor")} ${differing === 1 ? "differs" : "differ"}.`);
  show(byId("compare-limits"), limitsOf(sides).map((text) => said("li", {}, `⚠ ${text}`)));
  const heads = sides.map(({ entry }, k) => el("th", { scope: "col" }, `${COMPARED[k][0]} `, said("bdi", {}, entry.name)));
  const line = ([name, values], tell) => el("tr", {}, said("th", { scope: "row" }, name), values.map((value, k) => said("td", {}, value === null || value === undefined ? "–" : tell(value, sides[k]))));
  show(byId("compare-table"), el("thead", {}, el("tr", {}, el("td"), heads)), groups.map(([title, rows, tell = String]) =>
    el("tbody", {}, el("tr", {}, el("th", { scope: "rowgroup", colspan: 3 }, title)), rows.map((row) => line(row, tell)))));
  const alike = levelsOf(sides, true);
  show(byId("compare-alike"), el("summary", {}, `${plural(alike.length, "factor")} alike`), said("p", { class: "small" }, alike.map(([name, [value]]) => `${name}=${value}`).join(" ")));
  const head = [["group", "name", ...sides.map(({ entry }) => entry.name)]];
  show(byId("compare-csv"), csvButton("compared", () => [...head, ...groups.flatMap(([title, rows]) => rows.map(([name, values]) => [title, name, ...values]))]));
}

function drawComparedGrowth() {
  const { sides, round } = compared;
  const frame = { ...PLOT, last: lastCompared() };
  const label = ({ f }, k, y) => {
    const end = f.D.findLastIndex((value) => value > 0);
    const above = f.D[end] >= (sides[1 - k].f.D[end] ?? 0); // so that the labels keep apart
    return end < 0 ? null : svg("text", { x: roundX(frame, end + 1) - 6, y: y(f.D[end]) + (above ? -9 : 17), "text-anchor": "end" }, COMPARED[k][0]);
  };
  const lines = (y) => [upright(roundX(frame, round), PLOT.top, ZERO + 8, "now"),
    y && sides.map((side, k) => [curve(frame, side.f.D, y, COMPARED[k][1], round), label(side, k, y)])];
  const title = `Divergence of both by round. Round ${round}: ${sides.map(({ f }, k) => `${COMPARED[k][0]} ${brief(f.D[round - 1])}`).join(", ")}`;
  const figure = byId("compare-growth");
  show(figure.querySelector(".canvas"), growthPlot(frame, sides.flatMap(({ f }) => f.D), { "aria-label": title }, lines, sides[0].f));
  show(figure.querySelector(".lines"), sides.map(({ f, entry }, k) => lineKey(`curve ${COMPARED[k][1]}`, said("span", {}, `D(t) of the ${COMPARED[k][0]}: ${entry.name}${f.D.length ? `, mean over ${plural(completed(f).length, "completed replicate")}` : ", none so far"}`))));
  const rows = Array.from({ length: frame.last }, (_, t) => [t + 1, ...sides.map(({ f }) => f.D[t] ?? null)]);
  const head = ["round", ...sides.map(({ entry }, k) => `D(t) ${COMPARED[k][0]}, ${entry.name}`)];
  show(figure.querySelector("details div"), el("p", { class: "tools" }, csvButton("divergence", () => [head, ...rows])), table(head, rows, brief));
}

// Seats of both by name; a model or a label that differs is told of both.
function seatsOfBoth(sides) {
  const all = sides.flatMap(({ f }) => f.seats);
  return [...new Set(all.map(({ seat }) => seat))].map((seat) => {
    const both = all.filter((each) => each.seat === seat);
    const told = (key) => [...new Set(both.map((each) => each[key]).filter(Boolean))].join(" | ");
    return { seat, label: told("label"), model: told("model"), shared: both.length > 1 };
  });
}

const lastCompared = () => Math.max(...compared.sides.map(({ f }) => f.last));

function drawSaid(wish = compared.round) {
  const { sides, n } = compared;
  const seats = seatsOfBoth(sides);
  const place = ({ f }, turn) => seats.findIndex(({ seat }) => seat === f.seats[turn.seat]?.seat);
  const pairs = alongside(...sides.map((side, k) => turnsOf(side.talk, n[k]).map((turn) => ({ ...turn, seat: place(side, turn) }))));
  const both = sides.map(({ f }, k) => f.replicates.find((r) => r.n === n[k]));
  compared.parting = comparable(sides) && both.every(Boolean) ? parting(pairs.filter((pair) => seats[pair.seat]?.shared)) : null;
  compared.round = Math.min(lastCompared(), Math.max(1, wish ?? compared.parting?.round ?? 1));
  Object.assign(byId("compare-round"), { max: lastCompared(), value: compared.round });
  show(byId("compare-round-told"), `${compared.round} of ${lastCompared()}`);
  byId("compare-parting").disabled = !compared.parting?.round;
  drawComparedGrowth();
  const [left, right] = sides.map(({ f }) => ({ ...f, seats }));
  const missing = both.map((r, k) => r ? "" : `The ${COMPARED[k][0]} has no transcript in this page. `).join("");
  show(byId("compare-parting-told"), compared.parting ? partingWords(compared.parting, both, left) : missing || "Read each by itself: see above what can't be compared.");
  show(byId("compare-heads"), both.map((r, k) => r ? fill(headOf(r, sides[k].f, COMPARED[k][0]), {}, [said("span", { class: "small quiet" }, sides[k].entry.name)]) : el("div")));
  const marked = compared.parting && { done: compared.parting.text?.round !== compared.round };
  const here = pairs.filter((pair) => pair.round === compared.round);
  show(byId("compare-talk"), here.length ? here.map((pair) => turnPair(pair, left, marked, right)) : el("p", { class: "told" }, "Nobody spoke in this round."),
    compared.parting && compared.round === lastCompared() ? ballotsBeside(both, left) : null);
  const [c, d, [a = "", b = ""]] = [...sides.map(({ entry }) => entry.id), n];
  setLink(new URLSearchParams({ c, d, a, b, t: compared.round }), "compare");
}

function listenToComparison() {
  const chosen = (names) => names.map((name) => numberOf(byId(`compare-${name}`).value));
  for (const name of ["c", "d"]) byId(`compare-${name}`).addEventListener("change", () => compareConditions(chosen(["c", "d"]), compared));
  ["a", "b"].forEach((name, side) => byId(`compare-${name}`).addEventListener("change", ({ target }) => {
    compared.n = compared.n.map((n, k) => (k === side ? Number(target.value) : n));
    drawSaid();
  }));
  byId("compare-swap").addEventListener("click", () => compareConditions(chosen(["d", "c"]), { ...compared, n: [...compared.n].reverse() }));
  byId("compare-round").addEventListener("input", (event) => drawSaid(Number(event.target.value)));
  byId("compare-parting").addEventListener("click", () => drawSaid(compared.parting.round));
  COMPARED.forEach((_, k) => byId(`compare-open-${k}`).addEventListener("click", async () => {
    chooseView("replicates");
    await chooseCondition(numberOf(compared.sides[k].entry.id), { round: compared.round, pair: [compared.n[k]] });
    byId("condition-title").focus();
  }));
}

views.set("compare", (parts) => {
  const [left, right] = ["c", "d"].map((name) => linkedCondition(parts, name));
  const asked = { n: ["a", "b"].map((name) => linkedWhole(parts, name)), round: linkedWhole(parts, "t") };
  if (!index.conditions.length) show(byId("compare-told"), "No condition has begun yet.");
  else if (left >= 0 && right >= 0) compareConditions([left, right], asked);
  else if (left < 0 && compared.sides) compareConditions(compared.sides.map(({ entry }) => numberOf(entry.id)), compared);
  else compareConditions(closestPair(left >= 0 ? left : state.number), asked);
});
listenToComparison();
