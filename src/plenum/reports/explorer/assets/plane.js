// Where the replicates stand in a round: one of two views, with what they share.

const WIDE = 480;
const HIGH = 400;
const MANY = 80; // replicates beyond which marks jump instead of gliding
let drawn = null; // the view that is on the page: { root, place }

const completed = (f) => f.replicates.filter((replicate) => replicate.status === "completed");

function viewsOf(f) {
  const both = [["simplex", f.options.length === 3 ? "simplex" : "corners"], ["lines", "lines"]];
  return f.options.length < 3 ? both.slice(1) : both;
}

const usualView = (f) => (f.options.length === 3 ? "simplex" : "lines");
const ZOOMS = [["none", "off"], ["all", "all rounds"], ["round", "this round"]];
const TRAILS = [["all", "all"], ["last", "last 5"], ["none", "off"]];

function drawPlane() {
  const { f, view } = state;
  drawn = (view === "simplex" ? simplex : coordinates)(f);
  drawn.root.classList.toggle("many", f.replicates.length > MANY);
  show(document.querySelector("#plane .canvas"), drawn.root);
  drawLegend(f);
  placePlane();
}

function placePlane() {
  drawn.place(state.round);
  const { f, round } = state;
  const here = f.replicates.filter((replicate) => replicate.points[round - 1]);
  const places = new Set(here.map((replicate) => replicate.points[round - 1].join()));
  const told = `${plural(here.length, "replicate")} at ${plural(places.size, "place")} in round ${round}`;
  const how = state.view === "simplex" ? simplexTold(f) : "One line a replicate: its committee's mean preference for each option.";
  show(byId("plane-told"), `${told}. ${how}`);
  drawn.root.setAttribute("aria-label", `${told}. Choose replicates in the list below.`);
}

function simplexTold(f) {
  if (f.options.length === 3)
    return "A point is a committee's mean preference; corners are whole preference for one option; distances are those of D(t).";
  return "A point is the mean of the corners, weighted by preference: other preferences may share a place, and distances aren't those of D(t).";
}

function drawLegend(f) {
  const labels = f.options.map(([label]) => label);
  const counts = countsOf([...labels, "NONE", ""], f.replicates.map((r) => (r.status === "completed" ? r.decision : "")));
  const found = [...counts.keys()].filter((key) => counts.get(key) || labels.includes(key));
  show(byId("legend"), found.map((key) => {
    const name = key === "" ? "not completed" : decided(key, f.options);
    return el("li", {}, symbol(key, f.options), said("span", {}, name), el("b", {}, counts.get(key)));
  }));
}

// What stands for a replicate: its trail, a mark that can be clicked, its number where it is chosen.
function standIn(replicate, f) {
  const { kind, shape, dash } = markOf(replicate.decision, f.options);
  const trail = svg("path", { class: `trail ${kind}`, "stroke-dasharray": dash });
  const name = `replicate ${replicate.n}: ${outcome(replicate, f)}`;
  const mark = svg("g", { class: "stand", ...chosenBy(replicate.n) },
    svg("circle", { r: 9, class: "reach" }),
    svg("circle", { r: 9.5, class: "halo" }),
    svg("path", { d: shape, class: `mark ${kind}` }),
    svg("text", { x: 11, y: 4, class: "number" }, `#${replicate.n}`),
    svg("title", {}, name));
  return { replicate, trail, mark };
}

const sideOf = (number) => ["left", "right"][state.pair.indexOf(number)] ?? "";

// The ground, and on it all replicates as `make` draws them; `raise` draws the chosen last, over the others.
function stage(f, make, cut = {}) {
  const [ground, trails, marks] = [svg("g"), svg("g", cut), svg("g")];
  const stands = f.replicates.map((replicate) => make(replicate, f));
  const put = ({ trail, mark }) => {
    trails.append(trail);
    marks.append(mark);
  };
  stands.forEach(put);
  const raise = () => {
    for (const stand of stands) {
      const side = sideOf(stand.replicate.n);
      for (const which of ["left", "right"]) for (const node of [stand.trail, stand.mark]) node.classList.toggle(which, side === which);
      if (side) put(stand);
    }
  };
  const root = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" }, ground, trails, marks);
  return { root, ground, stands, raise };
}

// The points between which the zoom looks; none where it is off.
const inSight = (f, round) => f.replicates.flatMap((r) => ({ none: [], all: r.points, round: r.points.slice(round - 1, round) })[state.zoom]);
const from = (round) => ({ all: 1, last: Math.max(1, round - 5), none: round })[state.trails];
