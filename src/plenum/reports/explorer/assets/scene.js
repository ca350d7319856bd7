// A round of a run as a picture: one renderer for each shape that a ground can have.

const SCENE = { wide: 480, high: 424 };
const PAINTERS = { grid: GRID, nodes: NETWORK, panels: BARS };
const SIDES = ["left", "right"];
const painterOf = (ground) => PAINTERS[Object.keys(PAINTERS).find((shape) => shape in ground)];

function drawScene(side) {
  const { replicate, run, f } = state.sides[side];
  const other = state.sides[side === "left" ? "right" : "left"];
  const figure = byId(side);
  const round = run?.rounds[state.round - 1];
  const painter = round && painterOf(run.ground);
  const words = round ? round.marks.map((mark) => mark.words).filter(Boolean) : [];
  show(figure.querySelector(".words-of"), words.map((text) => el("li", {}, text)));
  show(byId(`${side}-head`), headWords(state.sides[side]));
  if (!painter) return void show(figure.querySelector(".canvas"), el("p", { class: "told nothing" }, nothingTold(replicate, run, round)));
  const alike = other.run && painterOf(other.run.ground) === painter && painter.shared;
  const ground = alike ? painter.shared(run.ground, other.run.ground) : run.ground;
  const root = svg("svg", { viewBox: `0 0 ${SCENE.wide} ${SCENE.high}`, role: "img", "aria-label": `Round ${state.round}, run ${replicate.n}: the lines below say what it shows.` });
  show(figure.querySelector(".canvas"), fill(root, {}, painter.paint(ground, round)));
}

function nothingTold(replicate, run, round) {
  if (!replicate) return "There is no run here.";
  if (!run) return replicate.status === "damaged" ? "Its journal doesn't verify." : "This run was left out of the page to keep it small.";
  if (round) return "This world has no picture; what was known, said and done stands below.";
  const ended = replicate.status === "completed" ? "The run ended" : `The run is ${replicate.status}: it got`;
  return `${ended} after ${plural(run.rounds.length, "round")}.`;
}

// The run, its condition, and what the round came to.
function headWords({ replicate, run, entry, f }) {
  if (!replicate) return "no run";
  const round = run?.rounds[state.round - 1];
  const failed = replicate.status === "completed" ? null : el("span", { class: "warn" }, ` ${replicate.status}`);
  const told = round && [
    `${f.performance} ${fixed(round.performance, 2)}`,
    `score ${brief(round.score)}`,
    round.events.join(", "),
    round.tied ? "a tie was drawn" : "",
  ].filter(Boolean).join(" · ");
  return [el("b", {}, `#${replicate.n}`), " ", said("bdi", {}, entry.name), failed, told ? el("span", { class: "quiet" }, ` · ${told}`) : null];
}

// Both sides' shapes, each once.
function drawSceneLegend() {
  const met = new Map();
  for (const { run } of SIDES.map((side) => state.sides[side]))
    for (const mark of run?.legend ?? []) met.set(mark.words, [painterOf(run.ground), mark]);
  show(byId("legend"), [...met.values()].map(([painter, mark]) => el("li", {}, painter.sample(mark), el("span", {}, mark.words))));
}
