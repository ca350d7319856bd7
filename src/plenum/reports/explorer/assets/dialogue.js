// What agents saw, said and did in a round, both runs side by side.

const STEPS = { message: "proposes", action: "chooses" };

// Answers as the page shows them, from the short lists of a talk block.
function answersOf({ run, talk }) {
  const met = new Map();
  return (run?.answers ?? []).map(([round, seat, step, action, words, reasons, flags]) => {
    const kind = talk.texts[step];
    const key = `${round}/${seat}/${kind}`;
    met.set(key, (met.get(key) ?? 0) + 1);
    return {
      round, seat, kind, step: `${kind}${met.get(key)}`,
      text: talk.texts[words], state: talk.texts[action], reasons: talk.texts[reasons],
      repaired: Boolean(flags & 1), cut: Boolean(flags & 2), unread: Boolean(flags & 4),
    };
  });
}

const actionsOf = ({ run, talk }, round) => (run?.rounds[round - 1]?.actions ?? []).map((action) => talk.texts[action]);

// Where the two first say, and first do, something else; null where they never do.
function partingOf(left, right) {
  const { text, state: choice } = parting(alongside(answersOf(left), answersOf(right)));
  const rounds = Math.max(left.run?.rounds.length ?? 0, right.run?.rounds.length ?? 0);
  const differs = (t) => actionsOf(left, t).join() !== actionsOf(right, t).join();
  const done = Array.from({ length: rounds }, (_, t) => t + 1).find(differs) ?? null;
  const first = [text, choice].filter(Boolean).sort((a, b) => a.round - b.round)[0] ?? null;
  const found = [first?.round, done].filter(Boolean);
  return { first, done, round: found.length ? Math.min(...found) : null };
}

function partingTold({ left, right }) {
  if (!left.run || !right.run) return "Choose two runs that the page holds.";
  const { first, done, round } = state.parting;
  const episode = left.replicate.episode;
  const where = sameWorld() ? `Both meet the same world (number ${episode}).` : "They are in different worlds: what differs may be the draw's.";
  if (!round) return `${where} They say and do the same in every round.`;
  const name = (turn) => agentName(left, turn.seat);
  const words = first ? ` They first say or choose something else in round ${first.round} (${name(first)}),` : " They say the same,";
  const deeds = done ? ` and first do something else in round ${done}.` : " and do the same in every round.";
  return [where, words, deeds];
}

const agentName = ({ f }, seat) => f.seats[seat]?.seat ?? `agent ${seat + 1}`;

function drawDialogue() {
  const { left, right } = state.sides;
  show(byId("transcripts-round"), `${state.round}`);
  show(byId("parting"), partingTold(state.sides));
  byId("to-parting").disabled = !state.parting.round;
  byId("to-parting").hidden = !sameWorld();
  const pairs = alongside(...[left, right].map((side) => answersOf(side).filter((turn) => turn.round === state.round)));
  const marked = { done: state.parting.first?.round !== state.round || !sameWorld() };
  const turns = (kind) => pairs.filter((pair) => (pair.left ?? pair.right).kind === kind).map((pair) => answerPair(pair, marked));
  const kinds = [...new Set(pairs.map((pair) => (pair.left ?? pair.right).kind))].sort((a, b) => (a === "message" ? -1 : b === "message" ? 1 : 0));
  const part = (title, ...content) => el("section", { class: "round" }, el("h4", {}, title), content);
  show(byId("talk"),
    part("Reports", beside("report", ({ talk, round }) => round.report.map(([text, kind]) => statement(talk.texts[text], kind)), "none")),
    part(left.f.view ? `What the agents knew, beside the last ${plural(left.f.view, "message")}` : "What the agents knew", beside("known", knownOf, "nobody was told anything")),
    kinds.map((kind) => part(kind === "message" ? "Said, in speaking order" : "Chosen", turns(kind))),
    part("Done", doneTable(left, right, pairs)));
}

const statement = (text, kind) => el("li", {}, said("span", {}, text), kind === "plain" ? null : el("span", { class: "flag", title: "goes on the record and is never shown to an agent" }, kind));

// A list for each side, or one where both are the same.
function beside(kind, items, nothing) {
  const lists = SIDES.map((side) => {
    const { run, talk, f, replicate } = state.sides[side];
    const round = run?.rounds[state.round - 1];
    const listed = round ? items({ round, talk, f }) : [];
    return el("ul", { class: kind }, listed.length ? listed : el("li", { class: "quiet" }, round ? nothing : nothingTold(replicate, run, round)));
  });
  const same = lists[0].textContent === lists[1].textContent;
  return el("div", { class: `turns${same ? " same" : ""}`, "data-turn": `${state.round}.${kind}` }, same ? lists[0] : lists);
}

// The views: lines that all agents read once, and what each one read besides.
function knownOf({ round, talk, f }) {
  const { views } = round;
  if (!views.length) return [];
  const shared = views[0].filter((line) => views.every((view) => view.includes(line)));
  const own = views.map((view) => view.filter((line) => !shared.includes(line)));
  return [
    shared.map((line) => said("li", {}, talk.texts[line])),
    own.some((lines) => lines.length) ? own.map((lines, seat) => el("li", {}, said("b", {}, `${agentName({ f }, seat)}: `), lines.map((line) => said("span", {}, `${talk.texts[line]} `)))) : [],
  ];
}

function answerPair(pair, marked) {
  const { left, right } = state.sides;
  const side = pair.left ? left : right;
  const name = [said("bdi", {}, agentName(side, pair.seat)), said("span", { class: "quiet" }, ` ${side.f.seats[pair.seat]?.label ?? ""}`)];
  const compared = pair.left && pair.right && sameWorld();
  const words = compared ? marks(pair, marked) : [pair.left, pair.right].map((turn) => turn?.text);
  const cell = (turn, k, other) => answerCell(turn, words[k], compared && other);
  return cellsBeside(pair, name, cell, "no such answer here", pair.left?.kind === "message" || pair.right?.kind === "message" ? "" : " short");
}

const flagsOf = (turn) => [turn.repaired && "repaired", turn.cut && "cut", turn.unread && "couldn't be read: abstains"].filter(Boolean);

function answerCell(turn, words, other) {
  return el("div", { class: `turn${turn.unread ? " unread" : ""}` },
    el("p", { class: "deed" }, el("span", { class: "quiet" }, `${STEPS[turn.kind] ?? turn.kind} `), said("b", { class: other && other.state !== turn.state ? "differs" : null }, turn.state)),
    turn.text ? el("p", { class: "words", dir: "auto" }, words) : null,
    turn.reasons ? folded("private reasons", said("p", { class: "words" }, state.turn ? markedIn(turn.reasons) : turn.reasons)) : null,
    flagged(flagsOf(turn)));
}

// What every unit did, where it isn't what its agent chose.
function doneTable(left, right, pairs) {
  const both = [left, right].map((side) => actionsOf(side, state.round));
  const count = Math.max(...both.map((actions) => actions.length));
  if (!count) return el("p", { class: "told" }, "Nothing: this round isn't over.");
  const chosen = SIDES.map((side) => pairs.map((pair) => pair[side]).filter((turn) => turn && turn.kind !== "message"));
  const free = both.every((actions, k) => chosen[k].length === actions.length && chosen[k].every((turn) => actions[turn.seat] === turn.state));
  if (free) return el("p", { class: "told" }, "All did what they chose.");
  const named = [left, right].find((side) => side.f.seats.length === count);
  const unit = (k) => (named ? agentName(named, k) : `unit ${k + 1}`);
  const line = (k) => el("tr", { class: both[0][k] === both[1][k] ? "alike" : "apart" }, el("th", { scope: "row" }, said("bdi", {}, unit(k))), both.map((actions) => said("td", {}, actions[k] ?? "–")));
  return table(["", ...SIDES], Array.from({ length: count }, (_, k) => line(k)), String, { class: "done" });
}

// What the search finds in worlds.
const FINDS = {
  unit: "run",
  thought: "Private reasons too",
  selects: { told: "World", who: "Agent", model: "Model" },
  boxes: { repaired: "Repaired", cut: "Cut", unread: "Couldn't be read", failed: "Run failed" },
  flags: flagsOf,
  spoken: (f, talk, entry) => f.replicates.filter(({ n }) => talk.runs[n]).flatMap((r) => {
    const [run, of] = [talk.runs[r.n], { n: r.n, entry, told: `world ${r.episode}`, failed: r.status === "failed" }];
    const reports = run.rounds.flatMap(({ report }, k) => report.map(([text, kind]) => ({ round: k + 1, who: "report", kind, text: talk.texts[text], place: `${k + 1}.report` })));
    const answers = answersOf({ run, talk }).flatMap((turn) => [{ ...turn, text: turn.reasons, kind: "private reasons", thought: true }, turn]);
    const named = answers.map((turn) => ({ ...turn, who: agentName({ f }, turn.seat), model: f.seats[turn.seat]?.model, place: `${turn.round}.${turn.seat}.${turn.step}` }));
    return [...reports, ...named].filter(({ text }) => text).sort((a, b) => a.round - b.round).map((turn) => ({ model: "", ...turn, of }));
  }),
};
