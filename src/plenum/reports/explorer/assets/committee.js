// The page of committees: its state, and what follows from each change of it.

const state = {
  number: -1, entry: null, f: null, round: 1, pair: [], parting: null,
  view: "simplex", zoom: "all", trails: "all", order: "n", link: "", playing: null, wanted: -1,
  suggested: false, turn: null,
};

async function chooseCondition(number, wish = {}) {
  stop();
  state.wanted = number;
  const f = await figures(number);
  if (state.wanted !== number) return; // another was chosen meanwhile
  Object.assign(state, { number, f, entry: index.conditions[number], parting: null, order: "n" });
  state.round = Math.min(f.last, Math.max(1, wish.round ?? f.last));
  const there = (wish.pair ?? []).filter((n) => f.replicates.some((r) => r.n === n));
  state.pair = [...new Set(there)].slice(0, 2);
  state.view = known(wish.view, viewsOf(f), usualView(f));
  state.zoom = known(wish.zoom, ZOOMS, state.zoom);
  state.trails = f.replicates.length > 60 ? "last" : "all";
  setControls();
  markCondition(number);
  aboutCondition();
  listReplicates();
  byId("latest").disabled = new Set(completed(f).map((r) => r.decision)).size < 2;
  byId("farthest").disabled = completed(f).length < 2;
  drawPlane();
  await choosePair(state.pair, false, wish.turn ?? null);
}

function setControls() {
  const controls = { view: viewsOf(state.f), zoom: ZOOMS, trails: TRAILS, order: ORDERS };
  for (const [name, pairs] of Object.entries(controls)) choices(byId(name), pairs, state[name]);
  tellRound();
}

const lastRound = () => state.f.last;

function drawRound() {
  placePlane();
  drawGrowth();
  if (state.order === "middle") listReplicates();
  if (byId("follow").checked) scrollTo(state.round);
}

// The first that is chosen stays on the left; a third takes the place of the second, and whoever
// chooses takes the place of a pair that the page chose itself.
function chooseReplicate(number) {
  const { pair } = state;
  if (state.suggested) choosePair([number]);
  else if (pair.includes(number)) choosePair(pair.filter((n) => n !== number));
  else choosePair([...pair.slice(0, 1), number]);
}

// `turn` names what a hit of the search has opened.
async function choosePair(pair, suggested = false, turn = null) {
  Object.assign(state, { pair, turn, suggested, parting: null });
  markPair();
  placePlane();
  writeLink();
  await drawTranscripts();
  drawGrowth();
  if (state.pair.length === 2) scrollToParting();
  if (turn) markHit(turn);
}

function listen() {
  for (const name of ["view", "zoom", "trails"]) byId(name).addEventListener("change", ({ target }) => redraw({ [name]: target.value }));
  byId("order").addEventListener("change", (event) => {
    state.order = event.target.value;
    listReplicates();
  });
  const suggest = (find) => () => {
    const pair = find(state.f);
    if (pair) choosePair(pair);
    else show(byId("parting"), "There are no two such replicates here.");
  };
  byId("farthest").addEventListener("click", suggest(farthestPair));
  byId("latest").addEventListener("click", suggest(latestSplit));
  byId("swap").addEventListener("click", () => choosePair([...state.pair].reverse()));
  byId("clear").addEventListener("click", () => choosePair([]));
  byId("to-parting").addEventListener("click", scrollToParting);
  byId("to-words").addEventListener("click", scrollToWords);
}

// What is shown, with the replicates that have come meanwhile.
const showAgain = () => chooseCondition(state.number, { round: state.round, pair: state.pair, view: state.view, zoom: state.zoom });

function redraw(changes) {
  Object.assign(state, changes);
  drawPlane();
  writeLink();
}

// #c=identity&t=7&a=3&b=11
function writeLink() {
  const { entry, round, pair, view, zoom, f } = state;
  const parts = new URLSearchParams({ c: entry.id, t: round });
  if (pair.length > 0) parts.set("a", pair[0]);
  if (pair.length > 1) parts.set("b", pair[1]);
  if (view !== usualView(f)) parts.set("view", view);
  if (zoom !== "all") parts.set("zoom", zoom);
  if (state.turn) parts.set("s", state.turn);
  setLink(parts);
}

// What the address asks for; null where it says nothing that is known here.
function readLink() {
  const parts = linkParts();
  const number = parts.has("v") ? -1 : linkedCondition(parts, "c");
  if (number < 0) return null;
  const pair = ["a", "b"].map((name) => linkedWhole(parts, name)).filter((n) => n !== null);
  return { number, round: linkedWhole(parts, "t"), pair, view: parts.get("view"), zoom: parts.get("zoom"), turn: parts.get("s") };
}

// The first condition whose replicates decide differently, else the first that has any.
function mostTelling() {
  const split = index.conditions.findIndex((condition) => condition.split);
  return Math.max(0, split >= 0 ? split : index.conditions.findIndex((condition) => condition.n > 0));
}

// Shows what is asked for, else what tells most; of a sweep that has just begun there is nothing yet.
async function openReplicates(asked) {
  if (!index.conditions.length) return;
  await chooseCondition(asked?.number ?? mostTelling(), asked ?? {});
  if (!asked) await choosePair(latestSplit(state.f) ?? farthestPair(state.f) ?? [], true);
}

openPage(openStudy);
