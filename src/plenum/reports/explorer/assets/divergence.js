// D(t) on a logarithmic axis, the fitted slope, and the distance of the chosen two.

const PLOT = { wide: WIDE, left: 58, right: WIDE - 14, top: 14, bottom: HIGH - 62, ticks: HIGH - 22, foot: HIGH - 5, most: 12 };
const ZERO = HIGH - 44; // where rounds with D = 0 stand, below the axis

const SEAT_COLUMNS = ["seat, in speaking order", "spoken of as", "mandate", "model"];

function estimateTold(f, entry) {
  if (f.fit) return `${entry.symbol} = ${fixed(f.fit.slope, 4)} ${interval(f.fit.low, f.fit.high, 4)} per round`;
  return `no λ̂: ${index.meanings[entry.status] ?? entry.status.replaceAll("_", " ")}`;
}

function pairDistances(f) {
  const [first, second] = state.pair.map((n) => f.replicates.find((r) => r.n === n));
  return first && second ? Array.from({ length: f.last }, (_, t) => distance(first, second, t + 1)) : [];
}

// Powers of ten that hold all that is drawn, or null where nothing is above zero.
function decades(values) {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  if (!logs.length) return null;
  const [low, high] = extent(logs);
  const room = Math.max(0.12, (0.7 - (high - low)) / 2);
  return [low - room, high + room];
}

const heightOf = ([low, high]) => (value) => PLOT.bottom - ((Math.log10(value) - low) / (high - low)) * (PLOT.bottom - PLOT.top);

function drawGrowth() {
  const { f } = state;
  const pair = pairDistances(f);
  const frame = { ...PLOT, last: f.last };
  const lines = (y) => [y && growthFit(f, frame, y), growthMarkers(f, frame), y && curve(frame, f.D, y, "level"), y && curve(frame, pair, y, "pair")];
  const about = { class: "clickable", onclick: (event) => clickRound(event, frame), "aria-label": `Divergence by round. ${growthNow(f, pair)}` };
  show(document.querySelector("#growth .canvas"), growthPlot(frame, [...f.D, ...pair], about, lines, f));
  growthWords(f, pair);
}

const nothingToDraw = (f) => (f.D.length ? "All replicates are the same in every round: D = 0" : "No D(t): this condition has no estimates");

// The axes, and what `lines` draws on them; why nothing can be drawn where no value has a height.
function growthPlot(frame, values, about, lines, f) {
  const range = decades(values);
  const y = range && heightOf(range);
  const turn = `translate(11 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)`;
  return svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", ...about },
    svg("path", { d: `M${PLOT.left},${PLOT.top}V${PLOT.bottom}H${PLOT.right}`, class: "axis" }),
    range && levels(range).map((value) => levelLine(PLOT, y(value), plain(value))),
    roundAxis(frame),
    svg("text", { transform: turn, "text-anchor": "middle", class: "tick" }, "distance on the simplex (log)"),
    lines(y),
    y ? null : svg("text", { x: WIDE / 2, y: HIGH / 2 - 30, "text-anchor": "middle", class: "corner" }, nothingToDraw(f)));
}

const plain = (value) => (value >= 0.0001 ? String(Number(value.toPrecision(1))) : value.toExponential(0).replace("-", "−"));

// Marks of a logarithmic axis: 1, 2, 5, fewer where there are many decades.
function levels([low, high]) {
  const digits = high - low > 3 ? [1] : high - low > 1.6 ? [1, 3] : [1, 2, 5];
  const values = multiples(Math.floor(low), high, 1).flatMap((power) => digits.map((digit) => digit * 10 ** power));
  return values.filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
}

// The window, the fitted line, and the fan of slopes in the interval, about the fit's middle.
function growthFit(f, frame, y) {
  if (!f.fit) return [];
  const { slope, low, high, x, log, rounds } = f.fit;
  const [first, last] = [rounds[0], rounds.at(-1)];
  const value = (rate, t) => Math.exp(log + rate * (t - x));
  const point = (rate, t) => `${roundX(frame, t).toFixed(1)},${y(value(rate, t)).toFixed(1)}`;
  const window = { x: roundX(frame, f.window[0]) - 6, y: PLOT.top, height: PLOT.bottom - PLOT.top, class: "window" };
  window.width = roundX(frame, f.window[1]) - window.x + 6;
  const parts = [svg("clipPath", { id: "plot-clip" }, svg("rect", { x: PLOT.left, y: PLOT.top, width: PLOT.right - PLOT.left, height: PLOT.bottom - PLOT.top }))];
  parts.push(svg("rect", window));
  if (low !== null && high !== null) {
    const fan = [point(low, first), point(slope, x), point(high, last), point(low, last), point(slope, x), point(high, first)];
    parts.push(svg("path", { d: `M${fan.join("L")}Z`, class: "fan", "clip-path": "url(#plot-clip)" }));
  }
  parts.push(svg("path", { d: `M${point(slope, first)}L${point(slope, last)}`, class: "fit" }));
  return parts;
}

function growthMarkers(f, frame) {
  const at = (round, kind) => upright(roundX(frame, round), PLOT.top, ZERO + 8, kind);
  const part = state.parting?.round;
  return [
    f.after ? [at(f.after, "branching"), svg("text", { x: roundX(frame, f.after) + 4, y: PLOT.top + 9, class: "tick" }, "branch")] : null,
    part && [at(part, "parting"), svg("path", { d: `M${roundX(frame, part)},${PLOT.bottom + 1}l5,8h-10Z`, class: "parting-foot" })],
    at(state.round, "now"),
  ];
}

function growthNow(f, pair) {
  const [level, between] = [f.D, pair].map((values) => values[state.round - 1]);
  const told = [given(level) && `D(${state.round}) = ${brief(level)}`, given(between) && `#${state.pair[0]} and #${state.pair[1]}: ${brief(between)} apart`];
  return told.filter(Boolean).join(" · ");
}

function growthWords(f, pair) {
  const zeros = [...f.D, ...pair].some((value) => value === 0);
  show(byId("growth-legend"),
    f.D.length ? lineKey("curve level", `D(t), mean over ${plural(completed(f).length, "completed replicate")}${f.after ? " of all bases" : ""}`) : [],
    f.fit ? lineKey("fit", `${state.entry.symbol} ${fixed(f.fit.slope, 4)} ${interval(f.fit.low, f.fit.high, 4)}, rounds ${f.window.join("–")}`) : [],
    pair.length ? lineKey("curve pair", `#${state.pair[0]} to #${state.pair[1]}`) : []);
  const method = f.fit ? `Shaded: the fit's window, and slopes within the ${f.fit.interval.replaceAll("_", " ")} 95 % interval.` : "";
  show(byId("growth-told"), `${method}${zeros ? " Hollow, below: distance 0." : ""} Click to set the round.`);
  show(byId("distance-told"), growthNow(f, pair));
  const head = ["round", "D(t)", ...(pair.length ? [`#${state.pair[0]} to #${state.pair[1]}`] : [])];
  const rows = Array.from({ length: f.last }, (_, t) => [t + 1, f.D[t], ...(pair.length ? [pair[t]] : [])]);
  show(document.querySelector("#numbers div"), table(head, rows, brief));
}
