// D(t) on a logarithmic axis, the fitted slope, and the distance of the chosen two.

const PLOT = { left: 58, right: WIDE - 14, top: 14, bottom: HIGH - 62 };
const ZERO = HIGH - 44; // where rounds with D = 0 stand, below the axis

const roundX = (f, round) =>
  f.last === 1
    ? (PLOT.left + PLOT.right) / 2
    : PLOT.left + 10 + ((round - 1) / (f.last - 1)) * (PLOT.right - PLOT.left - 20);

const SEAT_COLUMNS = ["seat, in speaking order", "spoken of as", "mandate", "model"];

function estimateTold(f, entry) {
  if (f.fit) return `${entry.symbol} = ${fixed(f.fit.slope, 4)} ${interval(f.fit.low, f.fit.high, 4)} per round`;
  return `no λ̂: ${index.meanings[entry.status] ?? entry.status.replaceAll("_", " ")}`;
}

function pairDistances(f) {
  const [first, second] = state.pair.map((n) => f.replicates.find((r) => r.n === n));
  if (!first || !second) return [];
  return Array.from({ length: f.last }, (_, t) => distance(first, second, t + 1));
}

// Powers of ten that hold all that is drawn, or null where nothing is above zero.
function decades(values) {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  if (!logs.length) return null;
  const low = logs.reduce((a, b) => Math.min(a, b)) - 0.12;
  const high = logs.reduce((a, b) => Math.max(a, b)) + 0.12;
  const missing = Math.max(0, 0.7 - (high - low)) / 2;
  return [low - missing, high + missing];
}

const heightOf = ([low, high]) => (value) => PLOT.bottom - ((Math.log10(value) - low) / (high - low)) * (PLOT.bottom - PLOT.top);

function drawGrowth() {
  const { f } = state;
  const pair = pairDistances(f);
  const root = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", class: "clickable" });
  const range = decades([...f.D, ...pair]);
  const y = range && heightOf(range);
  fill(root, {}, [growthAxes(f, range, y), y ? growthFit(f, y) : [], growthMarkers(f)]);
  if (y) fill(root, {}, [curve(f, f.D, y, "level"), curve(f, pair, y, "pair")]);
  else fill(root, {}, [svg("text", { x: WIDE / 2, y: HIGH / 2 - 30, "text-anchor": "middle", class: "corner" }, nothingToDraw(f))]);
  root.addEventListener("click", (event) => clickRound(event, root, f));
  root.setAttribute("aria-label", `Divergence by round. ${growthNow(f, pair)}`);
  show(document.querySelector("#growth .canvas"), root);
  growthWords(f, pair);
}

const nothingToDraw = (f) => (f.D.length ? "All replicates are the same in every round: D = 0" : "No D(t): this condition has no estimates");

function clickRound(event, root, f) {
  const box = root.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * WIDE;
  const share = (x - PLOT.left - 10) / (PLOT.right - PLOT.left - 20);
  setRound(Math.min(f.last, Math.max(1, Math.round(1 + share * (f.last - 1)))));
}

function growthAxes(f, range, y) {
  const parts = [svg("path", { d: `M${PLOT.left},${PLOT.top}V${PLOT.bottom}H${PLOT.right}`, class: "axis" })];
  for (const value of range ? levels(range) : []) {
    parts.push(svg("line", { x1: PLOT.left, x2: PLOT.right, y1: y(value), y2: y(value), class: "grid" }));
    parts.push(svg("text", { x: PLOT.left - 7, y: y(value) + 3.5, "text-anchor": "end", class: "tick" }, plain(value)));
  }
  const every = [1, 2, 5, 10, 20, 50, 100].find((n) => f.last / n <= 12) ?? 200;
  for (let t = 1; t <= f.last; t++)
    if (t === 1 || (t % every === 0 && t - 1 > every / 2))
      parts.push(svg("text", { x: roundX(f, t), y: HIGH - 22, "text-anchor": "middle", class: "tick" }, t));
  parts.push(svg("text", { x: (PLOT.left + PLOT.right) / 2, y: HIGH - 5, "text-anchor": "middle", class: "tick" }, "round"));
  const turn = `translate(11 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)`;
  parts.push(svg("text", { transform: turn, "text-anchor": "middle", class: "tick" }, "distance on the simplex (log)"));
  return parts;
}

const plain = (value) => (value >= 0.0001 ? String(Number(value.toPrecision(1))) : value.toExponential(0).replace("-", "−"));

// Marks of a logarithmic axis: 1, 2, 5, fewer where there are many decades.
function levels([low, high]) {
  const digits = high - low > 3 ? [1] : high - low > 1.6 ? [1, 3] : [1, 2, 5];
  const found = [];
  for (let power = Math.floor(low); power <= high; power++)
    for (const digit of digits) {
      const value = digit * 10 ** power;
      if (Math.log10(value) >= low && Math.log10(value) <= high) found.push(value);
    }
  return found;
}

// The window, the fitted line, and the fan of slopes in the interval, about the fit's middle.
function growthFit(f, y) {
  if (!f.fit) return [];
  const { slope, low, high, x, log, rounds } = f.fit;
  const [first, last] = [rounds[0], rounds.at(-1)];
  const value = (rate, t) => Math.exp(log + rate * (t - x));
  const point = (rate, t) => `${roundX(f, t).toFixed(1)},${y(value(rate, t)).toFixed(1)}`;
  const window = { x: roundX(f, f.window[0]) - 6, y: PLOT.top, height: PLOT.bottom - PLOT.top, class: "window" };
  window.width = roundX(f, f.window[1]) - window.x + 6;
  const parts = [svg("clipPath", { id: "plot-clip" }, svg("rect", { x: PLOT.left, y: PLOT.top, width: PLOT.right - PLOT.left, height: PLOT.bottom - PLOT.top }))];
  parts.push(svg("rect", window));
  if (low !== null && high !== null) {
    const fan = [point(low, first), point(slope, x), point(high, last), point(low, last), point(slope, x), point(high, first)];
    parts.push(svg("path", { d: `M${fan.join("L")}Z`, class: "fan", "clip-path": "url(#plot-clip)" }));
  }
  parts.push(svg("path", { d: `M${point(slope, first)}L${point(slope, last)}`, class: "fit" }));
  return parts;
}

function growthMarkers(f) {
  const at = (round, kind, text) => {
    const x = roundX(f, round);
    return [svg("line", { x1: x, x2: x, y1: PLOT.top, y2: ZERO + 8, class: kind }), text && svg("text", { x: x + 4, y: PLOT.top + 9, class: "tick" }, text)];
  };
  const part = state.parting?.round;
  return [
    ...(f.after ? at(f.after, "branching", "branch") : []),
    ...(part ? at(part, "parting") : []),
    part ? svg("path", { d: `M${roundX(f, part)},${PLOT.bottom + 1}l5,8h-10Z`, class: "parting-foot" }) : null,
    ...at(state.round, "now"),
  ];
}

function curve(f, values, y, kind, round = state.round) {
  const parts = [];
  let open = false;
  let path = "";
  values.forEach((value, t) => {
    if (value === null) return void (open = false);
    const x = roundX(f, t + 1);
    const now = t + 1 === round ? " here" : "";
    if (value > 0) {
      path += `${open ? "L" : "M"}${x.toFixed(1)},${y(value).toFixed(1)}`;
      parts.push(svg("circle", { cx: x, cy: y(value), r: now ? 5 : 2.6, class: `dot ${kind}${now}` }));
    } else parts.push(svg("circle", { cx: x, cy: ZERO, r: 3, class: `zero ${kind}${now}` }));
    open = value > 0;
  });
  return [svg("path", { d: path, class: `curve ${kind}` }), ...parts];
}

function growthNow(f, pair) {
  const level = f.D[state.round - 1];
  const told = level === undefined || level === null ? "" : `D(${state.round}) = ${brief(level)}`;
  const between = pair[state.round - 1];
  const both = between === undefined || between === null ? "" : `#${state.pair[0]} and #${state.pair[1]}: ${brief(between)} apart`;
  return [told, both].filter(Boolean).join(" · ");
}

const lineKey = (kind, ...text) => el("li", {}, svg("svg", { viewBox: "0 0 26 10", class: "key", "aria-hidden": "true" }, svg("path", { d: "M1,5H25", class: kind })), el("span", {}, text));

// A table of numbers, of which the first names the row.
const numbersTable = (head, rows) => el("table", {},
  el("thead", {}, el("tr", {}, head.map((name) => said("th", { scope: "col" }, name)))),
  el("tbody", {}, rows.map(([name, ...values]) => el("tr", {}, el("th", { scope: "row" }, name), values.map((value) => el("td", {}, brief(value)))))));

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
  show(document.querySelector("#numbers div"), numbersTable(head, rows));
}
