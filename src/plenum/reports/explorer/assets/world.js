// The page of worlds: two runs, of one condition or of two, and what follows from each change.

const state = {
  number: -1, entry: null, f: null, round: 1, parting: null, link: "", playing: null, wanted: 0,
  sides: { left: null, right: null }, turn: null,
};

// Whether both runs meet the same spawns, moves and shocks.
function sameWorld() {
  const { left, right } = state.sides;
  const known = left.replicate && right.replicate && left.replicate.episode !== undefined;
  return Boolean(known) && left.entry.world === right.entry.world && left.replicate.episode === right.replicate.episode;
}

async function readSide(number, n) {
  const [f, talk] = [await figures(number), await block(`talk-${number}`)];
  const replicate = f.replicates.find((r) => r.n === n) ?? f.replicates.find((r) => talk.runs[r.n]) ?? f.replicates[0] ?? null;
  return { number, f, talk, entry: index.conditions[number], replicate, run: (replicate && talk.runs[replicate.n]) ?? null };
}

// Shows two runs, each given by its condition's number and its own; `turn` names what a hit of the
// search has opened, on the left.
async function showRuns(left, right, round, turn = null) {
  stop();
  const wanted = ++state.wanted;
  const sides = { left: await readSide(...left), right: await readSide(...right) };
  if (state.wanted !== wanted) return; // others were chosen meanwhile
  const { number, f, entry } = sides.left;
  const another = state.number !== number;
  Object.assign(state, { sides, number, f, entry, turn });
  state.parting = partingOf(sides.left, sides.right);
  state.round = Math.min(lastRound(), Math.max(1, round ?? state.round));
  if (another) {
    markCondition(number);
    aboutCondition();
    listReplicates();
  }
  markPair();
  setControls();
  tellRound();
  drawSceneLegend();
  drawRound();
  writeLink();
  if (turn) markHit(turn);
}

// What is shown, with the runs that have come meanwhile.
function showAgain() {
  state.number = -1;
  return showRuns(shownAs("left"), shownAs("right"), state.round);
}

function lastRound() {
  const ends = SIDES.map((side) => state.sides[side]).map(({ run, replicate }) => Math.max(run?.rounds.length ?? 0, run?.answers.at(-1)?.[0] ?? 0, replicate?.course.length ?? 0));
  return Math.max(1, ...ends);
}

function drawRound() {
  for (const side of SIDES) drawScene(side);
  drawCourse();
  drawDialogue();
}

function setControls() {
  for (const side of SIDES) {
    const { f, replicate } = state.sides[side];
    choices(byId(`${side}-run`), f.replicates.map((r) => [`${r.n}`, `#${r.n}${r.episode === undefined ? "" : ` world ${r.episode}`}${r.status === "completed" ? "" : `, ${r.status}`}`]), `${replicate?.n}`);
  }
  const here = (number) => index.conditions[number].world === state.entry.world;
  const named = index.conditions.map((entry, number) => [`${number}`, `${entry.name}${here(number) ? "" : " (other worlds)"}`]);
  choices(byId("right-condition"), named, `${state.sides.right.number}`);
}

const shownAs = (side) => [state.sides[side].number, state.sides[side].replicate?.n];

// The run of a condition in the same world as another run; another one of its own, or else none.
async function matching(number, { number: mine, replicate, entry }) {
  if (entry.world !== index.conditions[number].world) return [number, undefined];
  const others = (await figures(number)).replicates.filter((r) => number !== mine || r.n !== replicate?.n);
  const alike = others.filter((r) => r.episode === replicate?.episode);
  const held = alike.find((r) => r.shown !== false) ?? alike[0] ?? (number === mine ? others[0] : undefined);
  return [number, held?.n];
}

async function chooseCondition(number) {
  const { left, right } = state.sides;
  const [, n] = await matching(number, left);
  const partner = right.number === number || right.entry.world !== index.conditions[number].world ? partnerOf(number) : right.number;
  const chosen = await readSide(number, n);
  await showRuns([number, chosen.replicate?.n], byId("same-world").checked ? await matching(partner, chosen) : shownAs("right"));
}

const chooseReplicate = (n) => chooseRun("left", n);

// The side that shows a run of the condition whose runs are listed.
const sideOf = (n) => SIDES.find((side) => state.sides[side].number === state.number && state.sides[side].replicate?.n === n) ?? "";

async function chooseRun(side, n, number = state.sides[side].number) {
  const other = side === "left" ? "right" : "left";
  const chosen = [number, n];
  const follow = byId("same-world").checked && state.sides[other].number !== number;
  const met = follow ? await matching(state.sides[other].number, await readSide(number, n)) : [];
  const rest = met[1] === undefined ? shownAs(other) : met;
  await showRuns(...(side === "left" ? [chosen, rest] : [rest, chosen]));
}

// Another condition in the same worlds: of those that differ in fewest factors the first.
function partnerOf(number) {
  const mine = index.conditions[number];
  const others = index.conditions.map((entry, k) => [k, entry]).filter(([k, entry]) => k !== number && entry.world === mine.world && entry.transcripts);
  return others.sort((a, b) => factorsApart(a[1], mine) - factorsApart(b[1], mine))[0]?.[0] ?? number;
}

// The first condition whose agents speak and that has a partner, and the worlds that tell them
// apart most: another run of its own where there is none.
async function mostTelling() {
  const shown = index.conditions.map((entry, k) => [k, entry]).filter(([, entry]) => entry.transcripts);
  const spoken = shown.filter(([, entry]) => entry.factors.policy === "agents");
  const number = (spoken.find(([k]) => partnerOf(k) !== k) ?? spoken[0] ?? shown[0] ?? [0])[0];
  const partner = partnerOf(number);
  const [mine, theirs] = [await figures(number), await figures(partner)];
  const value = (r) => r.metrics[mine.headline] ?? 0;
  const fits = (a, b) => (partner !== number ? b.episode === a.episode : b.n > a.n);
  const held = ({ replicates }) => replicates.filter((r) => r.shown !== false);
  const pair = best(held(mine).filter((r) => r.status === "completed"), (a, b) => (fits(a, b) ? Math.abs(value(a) - value(b)) : -1), () => held(theirs));
  return [[number, pair?.[0]], [partner, pair?.[1]]];
}

// #c=identity&a=3&d=identity&b=3&t=7
function writeLink() {
  const { left, right } = state.sides;
  const parts = new URLSearchParams({ c: left.entry.id, a: left.replicate?.n ?? "", d: right.entry.id, b: right.replicate?.n ?? "", t: state.round });
  if (state.turn) parts.set("s", state.turn);
  setLink(parts);
}

// What the address asks for; null where it says nothing that is known here.
async function readLink() {
  const parts = linkParts();
  const number = parts.has("v") ? -1 : linkedCondition(parts, "c");
  if (number < 0) return null;
  const [left, other] = [[number, linkedWhole(parts, "a")], linkedCondition(parts, "d")];
  const right = other < 0 ? await matching(partnerOf(number), await readSide(...left)) : [other, linkedWhole(parts, "b")];
  return [left, right, linkedWhole(parts, "t"), parts.get("s")];
}

function listen() {
  for (const side of SIDES) byId(`${side}-run`).addEventListener("change", (event) => chooseRun(side, Number(event.target.value)));
  byId("right-condition").addEventListener("change", async (event) => {
    const number = Number(event.target.value);
    const [, n] = await matching(number, state.sides.left);
    await showRuns(shownAs("left"), [number, n]);
  });
  byId("swap").addEventListener("click", () => showRuns(shownAs("right"), shownAs("left")));
  byId("to-parting").addEventListener("click", () => setRound(state.parting.round));
  byId("same-world").addEventListener("change", () => byId("same-world").checked && chooseRun("left", state.sides.left.replicate?.n));
}

// Shows what is asked for, else what tells most; of a sweep that has just begun there is nothing yet.
async function openReplicates(asked) {
  if (!index.conditions.length) return;
  await showRuns(...(asked ?? (await mostTelling())));
  if (!asked && state.parting.round) setRound(state.parting.round);
}

openPage(openStudy);
