// Two conditions side by side: levels, decisions, switches, D(t), and one replicate of each.

const compared = { sides: null, n: [], round: 1, parting: null, wanted: 0 };
const COMPARED = [["left", "level"], ["right", "pair"]]; // names of the sides, and of their lines

// The pair that differs in fewest factors, the preferred condition in it; of such pairs one whose
// replicates decide differently.
function closestPair(preferred) {
  const { conditions, differing } = index;
  let [pair, least] = [[Math.max(0, preferred), Math.max(0, preferred)], Infinity];
  conditions.forEach((one, i) => conditions.slice(i + 1).forEach((other, k) => {
    const j = i + 1 + k;
    const apart = differing.filter((name) => one.factors[name] !== other.factors[name]).length;
    const [strange, empty] = [preferred >= 0 && ![i, j].includes(preferred), !one.transcripts || !other.transcripts];
    const score = 1e6 * strange + 1e4 * empty + 10 * apart + !(one.split || other.split);
    if (score < least) [pair, least] = [j === preferred ? [j, i] : [i, j], score];
  }));
  return pair;
}

async function compareConditions(numbers, { n = [], round = null } = {}) {
  const wanted = ++compared.wanted;
  show(byId("compare-told"), "Reading…");
  const read = await Promise.all(numbers.map(figures));
  if (wanted !== compared.wanted) return; // others were chosen meanwhile
  const sides = numbers.map((number, k) => ({ number, f: read[k], entry: index.conditions[number] }));
  Object.assign(compared, { sides, round, n: tellingReplicates(sides, n) });
  const named = index.conditions.map(({ name }, number) => [`${number}`, name]);
  ["c", "d"].forEach((side, k) => choices(byId(`compare-${side}`), named, `${numbers[k]}`));
  ["a", "b"].forEach((side, k) => choices(byId(`compare-${side}`), readable(sides[k]).map((r) => [`${r.n}`, `#${r.n} ${outcome(r, sides[k].f)}`]), `${compared.n[k]}`));
  drawCompared();
  await drawSaid();
}

const readable = ({ f }) => f.replicates.filter((r) => r.shown !== false && r.status !== "damaged");

// The replicates that are asked for; else two of one number, that decide differently if any do.
function tellingReplicates(sides, asked) {
  const [left, right] = sides.map(readable);
  const [a, b] = [left, right].map((those, k) => those.find((r) => r.n === asked[k]));
  const same = left.flatMap((r) => right.filter((other) => other.n === r.n).map((other) => [r, other]));
  const split = same.find(([r, other]) => r.decision && other.decision && r.decision !== other.decision);
  const usual = split ?? same[0] ?? [left[0], right[0]];
  return [a ?? left.find((r) => r.n === b?.n) ?? usual[0], b ?? right.find((r) => r.n === a?.n) ?? usual[1]].map((r) => r?.n);
}

// Options are the same even if a side without a transcript knows letters alone.
const optionsAlike = ([left, right]) => left.f.options.length === right.f.options.length &&
  left.f.options.every(([label, name], k) => label === right.f.options[k][0] && (name === right.f.options[k][1] || !name || !right.f.options[k][1]));
const sameCase = ([left, right]) => left.entry.factors.scenario === right.entry.factors.scenario;
const comparable = (sides) => sameCase(sides) && optionsAlike(sides);

// What can't be compared, in sentences.
function limitsOf(sides) {
  const [left, right] = sides;
  const seats = sides.map(({ f }) => f.seats.map(({ seat }) => seat));
  const alone = [seats[0].filter((seat) => !seats[1].includes(seat)), seats[1].filter((seat) => !seats[0].includes(seat))];
  const rounds = sides.map(({ f }) => f.rounds);
  return [
    index.conditions.length < 2 && "This page has one condition: two are needed.",
    index.conditions.length > 1 && left.number === right.number && "Both sides are the same condition.",
    !sameCase(sides) && `The cases differ (${left.entry.factors.scenario}, ${right.entry.factors.scenario}): decisions and texts can't be compared, and differing words aren't marked.`,
    sameCase(sides) && !optionsAlike(sides) && "The options differ: decisions, preferences and D(t) can't be compared, and differing words aren't marked.",
    rounds[0] !== rounds[1] && `The left has ${plural(rounds[0], "round")}, the right ${rounds[1]}: rounds after ${Math.min(...rounds)} can't be compared.`,
    ...alone.map((names, k) => names.length > 0 && `Seats on the ${COMPARED[k][0]} alone: ${names.join(", ")}.`),
  ].filter(Boolean);
}

function decisionRows(sides) {
  const rows = new Map();
  const named = sides.map(({ f }) => f.options).sort((a, b) => (b[0]?.[1] ? 1 : 0) - (a[0]?.[1] ? 1 : 0))[0];
  sides.forEach(({ entry, f }, k) => {
    const options = optionsAlike(sides) ? named : f.options;
    const undecided = sides.some((side) => side.entry.decisions.NONE) ? ["NONE"] : [];
    for (const decision of [...options.map(([label]) => label), ...undecided]) {
      const name = decided(decision, options);
      if (!rows.has(name)) rows.set(name, [name, [null, null], symbol(decision, options)]);
      rows.get(name)[1][k] = entry.decisions[decision] ?? 0;
    }
  });
  return [...rows.values()];
}

// The table in groups: a title, rows of a name and a value for each side, and how a value is told.
function comparedGroups(sides) {
  const both = (read) => sides.map(read);
  const pairs = (read, names) => (names ?? [...new Set(both(read).flat().map(([name]) => name))]).map((name) => [name, both((side) => read(side).find(([of]) => of === name)?.[1] ?? null)]);
  const levels = pairs(({ entry }) => Object.entries(entry.factors));
  const facts = ({ f }) => f.facts.filter(([name]) => !name.startsWith("decisions ("));
  const warned = ({ entry }) => entry.warnings.map((name) => `${name.replaceAll("_", " ")} (${index.meanings[name] ?? "see docs/estimates.md"})`).join("; ");
  return {
    alike: levels.filter(([, [left, right]]) => left === right),
    groups: [
      ["Levels that differ", levels.filter(([, [left, right]]) => left !== right)],
      ["Decisions", decisionRows(sides), (count, { entry }) => `${count}${entry.n ? ` (${Math.round((100 * count) / entry.n)} %)` : ""}`],
      ["Replicates", ["completed", "failed", "pending"].map((name, k) => [name, both(({ entry }) => [entry.n, entry.failed, entry.pending][k])])],
      ["Estimates", [["fitted growth", both(({ f, entry }) => estimateTold(f, entry))], ...pairs(facts), ["warnings", both((side) => warned(side) || "none")]]],
      ["Mean switches of top option, by seat", pairs(({ f }) => f.switches), (mean) => fixed(mean, 2)],
    ],
  };
}

function drawCompared() {
  const { sides } = compared;
  const { alike, groups } = comparedGroups(sides);
  show(byId("compare-told"), `${plural(groups[0][1].length, "factor")} ${groups[0][1].length === 1 ? "differs" : "differ"}.`);
  show(byId("compare-limits"), limitsOf(sides).map((text) => said("li", {}, `⚠ ${text}`)));
  const heads = sides.map(({ entry }, k) => el("th", { scope: "col" }, `${COMPARED[k][0]} `, said("bdi", {}, entry.name)));
  const line = ([name, values, mark], tell) => el("tr", {}, el("th", { scope: "row" }, mark, mark && " ", said("bdi", {}, name)),
    values.map((value, k) => said("td", {}, value === null || value === undefined ? "–" : tell(value, sides[k]))));
  show(byId("compare-table"), el("thead", {}, el("tr", {}, el("td"), heads)), groups.filter(([, rows]) => rows.length).map(([title, rows, tell = String]) =>
    el("tbody", { class: title === groups[0][0] ? "apart" : null }, el("tr", {}, el("th", { scope: "rowgroup", colspan: 3 }, title)), rows.map((row) => line(row, tell)))));
  show(byId("compare-alike").firstChild, `${plural(alike.length, "factor")} alike`);
  show(byId("compare-alike").lastChild, alike.map(([name, [value]]) => [said("span", {}, `${name}=${value}`), " "]));
  const head = [["group", "name", ...sides.map(({ entry }) => entry.name)]];
  show(byId("compare-csv"), csvButton("compared", () => [...head, ...groups.flatMap(([title, rows]) => rows.map(([name, values]) => [title, name, ...values]))]));
}

function drawComparedGrowth() {
  const { sides, round } = compared;
  const both = { last: lastCompared() };
  const range = decades(sides.flatMap(({ f }) => f.D));
  const y = range && heightOf(range);
  const ends = sides.map(({ f }) => f.D.findLastIndex((value) => value > 0));
  const above = (k) => sides[k].f.D[ends[k]] >= (sides[1 - k].f.D[ends[k]] ?? 0); // so that labels keep apart
  const label = (k) => ends[k] < 0 ? null : svg("text", { x: roundX(both, ends[k] + 1), y: y(sides[k].f.D[ends[k]]) + (above(k) ? -9 : 17), "text-anchor": "end" }, COMPARED[k][0]);
  const now = { x1: roundX(both, round), x2: roundX(both, round), y1: PLOT.top, y2: ZERO + 8, class: "now" };
  const title = `Divergence of both by round. Round ${round}: ${sides.map(({ f }, k) => `${COMPARED[k][0]} ${brief(f.D[round - 1])}`).join(", ")}`;
  const figure = byId("compare-growth");
  show(figure.querySelector(".canvas"), svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": title }, growthAxes(both, range, y), svg("line", now),
    sides.map(({ f }, k) => (y ? [curve(both, f.D, y, COMPARED[k][1], round), label(k)] : null)),
    y ? null : svg("text", { x: WIDE / 2, y: HIGH / 2 - 30, "text-anchor": "middle", class: "corner" }, nothingToDraw(sides[0].f))));
  show(figure.querySelector(".lines"), sides.map(({ f, entry }, k) => lineKey(`curve ${COMPARED[k][1]}`, said("bdi", {}, `D(t) of the ${COMPARED[k][0]}: ${entry.name}${f.D.length ? `, mean over ${plural(completed(f).length, "completed replicate")}` : ", none so far"}`))));
  const rows = Array.from({ length: both.last }, (_, t) => [t + 1, ...sides.map(({ f }) => f.D[t] ?? null)]);
  const head = ["round", ...sides.map(({ entry }, k) => `D(t) ${COMPARED[k][0]}, ${entry.name}`)];
  show(figure.querySelector("details div"), csvButton("divergence", () => [head, ...rows]), numbersTable(head, rows));
}

const lastCompared = () => Math.max(...compared.sides.map(({ f }) => f.last));

// Seats of both by name; a model or a label that differs is told of both.
function seatsOfBoth(sides) {
  const names = [...new Set(sides.flatMap(({ f }) => f.seats.map(({ seat }) => seat)))];
  return names.map((seat) => {
    const both = sides.map(({ f }) => f.seats.find((each) => each.seat === seat) ?? null).filter(Boolean);
    const told = (key) => [...new Set(both.map((each) => each[key]).filter(Boolean))].join(" | ");
    return { seat, label: told("label"), model: told("model") };
  });
}

async function drawSaid() {
  const { sides, n } = compared;
  const talks = await Promise.all(sides.map(({ number }) => block(`talk-${number}`)));
  if (sides !== compared.sides || n !== compared.n) return;
  const seats = seatsOfBoth(sides);
  const place = ({ f }, turn) => seats.findIndex(({ seat }) => seat === f.seats[turn.seat]?.seat);
  const pairs = alongside(...sides.map((side, k) => turnsOf(talks[k], n[k]).map((turn) => ({ ...turn, seat: place(side, turn) }))));
  compared.parting = comparable(sides) && n.every((each) => each !== undefined) ? parting(pairs) : null;
  compared.round = Math.min(lastCompared(), Math.max(1, compared.round ?? compared.parting?.round ?? 1));
  tellComparedRound();
  drawComparedGrowth();
  const [left, right] = sides.map(({ f }) => ({ ...f, seats }));
  const both = sides.map(({ f }, k) => f.replicates.find((r) => r.n === n[k]));
  const missing = both.map((r, k) => r ? "" : `The ${COMPARED[k][0]} has no transcript in this page. `).join("");
  show(byId("compare-parting-told"), compared.parting ? partingWords(compared.parting, both, left) : missing || "Read each by itself: see above what can't be compared.");
  show(byId("compare-heads"), both.map((r, k) => r ? fill(headOf(r, sides[k].f, COMPARED[k][0]), {}, [said("span", { class: "small quiet" }, sides[k].entry.name)]) : el("div")));
  const marked = compared.parting && { done: compared.parting.text?.round !== compared.round };
  const here = pairs.filter((pair) => pair.round === compared.round);
  show(byId("compare-talk"), here.length ? here.map((pair) => turnPair(pair, left, marked, right)) : el("p", { class: "told" }, "Nobody spoke in this round."),
    compared.parting && compared.round === lastCompared() ? ballotsBeside(both, left) : null);
  linkComparison();
}

function tellComparedRound() {
  Object.assign(byId("compare-round"), { max: lastCompared(), value: compared.round });
  byId("compare-round").setAttribute("aria-valuetext", `round ${compared.round} of ${lastCompared()}`);
  show(byId("compare-round-told"), `${compared.round} of ${lastCompared()}`);
  byId("compare-parting").disabled = !compared.parting?.round;
}

// #c=identity&d=identity&a=3&b=3&t=7&v=compare
function linkComparison() {
  const { sides: [left, right], n: [a = "", b = ""], round } = compared;
  setLink(new URLSearchParams({ c: left.entry.id, d: right.entry.id, a, b, t: round }), "compare");
}

function setComparedRound(round) {
  compared.round = round;
  return drawSaid();
}

function listenToComparison() {
  const chosen = (names) => names.map((name) => Number(byId(`compare-${name}`).value));
  for (const name of ["c", "d"]) byId(`compare-${name}`).addEventListener("change", () => compareConditions(chosen(["c", "d"]), compared));
  for (const name of ["a", "b"]) byId(`compare-${name}`).addEventListener("change", () => {
    compared.n = chosen(["a", "b"]);
    drawSaid();
  });
  byId("compare-swap").addEventListener("click", () => compareConditions(chosen(["d", "c"]), { ...compared, n: [...compared.n].reverse() }));
  byId("compare-round").addEventListener("input", (event) => setComparedRound(Number(event.target.value)));
  byId("compare-parting").addEventListener("click", () => setComparedRound(compared.parting.round));
  byId("compare-folded").addEventListener("change", (event) => byId("compare-talk").classList.toggle("folded", event.target.checked));
  COMPARED.forEach((_, k) => byId(`compare-open-${k}`).addEventListener("click", async () => {
    showView("replicates");
    await chooseCondition(compared.sides[k].number, { round: compared.round, pair: [compared.n[k]] });
    byId("condition-title").focus();
  }));
}

views.set("compare", (parts) => {
  const [left, right] = ["c", "d"].map((name) => linkedCondition(parts, name));
  const asked = { n: ["a", "b"].map((name) => linkedWhole(parts, name)), round: linkedWhole(parts, "t") };
  if (left >= 0 && right >= 0) compareConditions([left, right], asked);
  else if (left < 0 && compared.sides) compareConditions(compared.sides.map(({ number }) => number), compared);
  else compareConditions(closestPair(left >= 0 ? left : state.number), asked);
});
listenToComparison();
