// The page: its state, and what follows from each change of it.

let index = null;
const state = {
  number: -1, entry: null, f: null, round: 1, pair: [], parting: null,
  view: "simplex", zoom: "all", trails: "all", order: "n", link: "", playing: null, wanted: -1,
  suggested: false,
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
  state.view = known(wish.view, views(f), usualView(f));
  state.zoom = known(wish.zoom, ZOOMS, state.zoom);
  state.trails = f.replicates.length > 60 ? "last" : "all";
  setControls();
  markCondition(number);
  aboutCondition();
  listReplicates();
  drawPlane();
  await choosePair(state.pair);
}

function setControls() {
  const { f } = state;
  choices(byId("view"), views(f), state.view);
  choices(byId("zoom"), ZOOMS, state.zoom);
  choices(byId("trails"), TRAILS, state.trails);
  choices(byId("order"), ORDERS, state.order);
  byId("round").max = f.last;
  byId("play").disabled = byId("round").disabled = f.last === 1;
  tellRound();
}

function tellRound() {
  const { round, f } = state;
  byId("round").value = round;
  byId("round").setAttribute("aria-valuetext", `round ${round} of ${f.last}`);
  show(byId("round-told"), `${round} of ${f.last}`);
}

function setRound(round) {
  if (round === state.round) return;
  state.round = round;
  tellRound();
  placePlane();
  drawGrowth();
  if (state.order === "middle") listReplicates();
  if (byId("follow").checked) scrollTo(round);
  writeLink();
}

// The first that is chosen stays on the left; a third takes the place of the second, and whoever
// chooses takes the place of a pair that the page chose itself.
function toggleReplicate(number) {
  const { pair } = state;
  if (state.suggested) choosePair([number]);
  else if (pair.includes(number)) choosePair(pair.filter((n) => n !== number));
  else choosePair([...pair.slice(0, 1), number]);
}

async function choosePair(pair, suggested = false) {
  state.pair = pair;
  state.suggested = suggested;
  state.parting = null;
  markPair();
  placePlane();
  writeLink();
  await drawTranscripts();
  drawGrowth();
  if (state.pair.length === 2) scrollToParting();
}

function stop() {
  clearInterval(state.playing);
  state.playing = null;
  byId("play").setAttribute("aria-pressed", "false");
  show(byId("play"), "Play");
}

function play() {
  if (state.playing) return stop();
  if (state.round === state.f.last) setRound(1);
  byId("play").setAttribute("aria-pressed", "true");
  show(byId("play"), "Pause");
  state.playing = setInterval(() => {
    if (state.round >= state.f.last) stop();
    else setRound(state.round + 1);
  }, 700);
}

function listen() {
  byId("round").addEventListener("input", (event) => {
    stop();
    setRound(Number(event.target.value));
  });
  byId("play").addEventListener("click", play);
  byId("view").addEventListener("change", (event) => redraw({ view: event.target.value }));
  byId("zoom").addEventListener("change", (event) => redraw({ zoom: event.target.value }));
  byId("trails").addEventListener("change", (event) => redraw({ trails: event.target.value }));
  byId("order").addEventListener("change", (event) => {
    state.order = event.target.value;
    listReplicates();
  });
  byId("list").addEventListener("keydown", (event) =>
    rove(event, rowsOfList(), (row) => toggleReplicate(Number(row.dataset.n))));
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
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address names what is seen
    byId("replicates-title").focus();
  });
  byId("folded").addEventListener("change", (event) => byId("talk").classList.toggle("folded", event.target.checked));
  window.addEventListener("hashchange", () => {
    const asked = location.hash !== state.link && readLink();
    if (asked) chooseCondition(asked.number, asked);
  });
}

function redraw(changes) {
  Object.assign(state, changes);
  drawPlane();
  writeLink();
}

// The first condition whose replicates decide differently, else the first that has any.
function mostTelling() {
  const split = index.conditions.findIndex((condition) => condition.split);
  return Math.max(0, split >= 0 ? split : index.conditions.findIndex((condition) => condition.n > 0));
}

async function open() {
  index = await block("index");
  aboutStudy();
  listConditions();
  listen();
  const asked = readLink();
  await chooseCondition(asked?.number ?? mostTelling(), asked ?? {});
  if (!asked) await choosePair(latestSplit(state.f) ?? farthestPair(state.f) ?? [], true);
  byId("frame").setAttribute("aria-busy", "false");
  performance.mark("ready");
}

open().catch((error) => {
  byId("trouble").hidden = false;
  show(byId("trouble"), `This page couldn't be drawn: ${error.message}. It needs a browser of 2023 or later.`);
  throw error;
});
