// Performance by round of both runs, over the means of their conditions, and when shocks came.

const COURSE = { wide: 960, high: 168, left: 44, right: 950, top: 20, bottom: 136 };

const courseX = (round) =>
  lastRound() === 1 ? (COURSE.left + COURSE.right) / 2 : COURSE.left + 10 + ((round - 1) / (lastRound() - 1)) * (COURSE.right - COURSE.left - 20);
const courseY = (value) => COURSE.bottom - value * (COURSE.bottom - COURSE.top);

function drawCourse() {
  const { left, right } = state.sides;
  const root = svg("svg", { viewBox: `0 0 ${COURSE.wide} ${COURSE.high}`, role: "img", class: "clickable", "aria-label": `Performance by round. ${courseNow()}` });
  const now = courseX(state.round);
  fill(root, {}, [
    courseAxes(),
    courseLine(left.f.mean, "mean left"), courseLine(right.f.mean, "mean right"),
    courseEvents(),
    svg("line", { x1: now, x2: now, y1: COURSE.top - 4, y2: COURSE.bottom, class: "now" }),
    courseLine(left.replicate?.course ?? [], "left"), courseLine(right.replicate?.course ?? [], "right"),
  ]);
  root.addEventListener("click", (event) => {
    const box = root.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * COURSE.wide - COURSE.left - 10) / (COURSE.right - COURSE.left - 20);
    setRound(Math.min(lastRound(), Math.max(1, Math.round(1 + share * (lastRound() - 1)))));
  });
  show(document.querySelector("#course .canvas"), root);
  courseWords();
}

function courseAxes() {
  const parts = [0, 0.5, 1].flatMap((value) => [
    svg("line", { x1: COURSE.left, x2: COURSE.right, y1: courseY(value), y2: courseY(value), class: value ? "grid" : "axis" }),
    svg("text", { x: COURSE.left - 6, y: courseY(value) + 3.5, "text-anchor": "end", class: "tick" }, value),
  ]);
  const every = [1, 2, 5, 10, 20, 50].find((n) => lastRound() / n <= 25) ?? 100;
  for (let t = 1; t <= lastRound(); t++)
    if (t === 1 || t % every === 0) parts.push(svg("text", { x: courseX(t), y: COURSE.bottom + 15, "text-anchor": "middle", class: "tick" }, t));
  parts.push(svg("text", { x: (COURSE.left + COURSE.right) / 2, y: COURSE.high - 2, "text-anchor": "middle", class: "tick" }, "round"));
  return parts;
}

function courseLine(values, kind) {
  let [path, open] = ["", false];
  const dots = [];
  values.forEach((value, t) => {
    if (value === null) return void (open = false);
    const [x, y] = [courseX(t + 1), courseY(value)];
    path += `${open ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`;
    open = true;
    if (!kind.startsWith("mean")) dots.push(svg("circle", { cx: x, cy: y, r: t + 1 === state.round ? 4.5 : 2.4, class: `dot ${kind}` }));
  });
  return [svg("path", { d: path, class: `course ${kind}` }), ...dots];
}

// What happened to the worlds: those of the left above, those of another world below.
function courseEvents() {
  const other = !sameWorld();
  return SIDES.filter((side) => side === "left" || other).flatMap((side, k) =>
    (state.sides[side].replicate?.events ?? []).map(([round, ...names]) =>
      svg("path", { d: `M${courseX(round)},${k ? COURSE.bottom - 2 : COURSE.top - 8}l-4.5,${k ? 8 : -8}h9Z`, class: `event ${side}` }, svg("title", {}, `round ${round}: ${names.join(", ")}`))));
}

function courseNow() {
  const values = SIDES.map((side) => state.sides[side]).filter(({ replicate }) => replicate);
  return values.map(({ replicate, f }, k) => `${SIDES[k]} ${f.performance} ${fixed(replicate.course[state.round - 1], 2)}`).join(" · ");
}

function courseWords() {
  const key = (kind, text) => el("li", {}, svg("svg", { viewBox: "0 0 26 10", class: "key", "aria-hidden": "true" }, svg("path", { d: "M1,5H25", class: `course ${kind}` })), el("span", {}, text));
  const both = SIDES.map((side) => state.sides[side]);
  show(byId("course-title"), [...new Set(both.map(({ f }) => f.performance))].join(" and "), " by round");
  show(byId("course-legend"), both.flatMap(({ replicate, entry }, k) => [
    key(SIDES[k], `${SIDES[k]}: run #${replicate?.n ?? "–"}`),
    key(`mean ${SIDES[k]}`, `mean of its condition, n ${entry.n}`),
  ]), el("li", {}, svg("svg", { viewBox: "-6 -10 12 12", class: "symbol", "aria-hidden": "true" }, svg("path", { d: "M0,0l-4.5,-8h9Z", class: "event left" })), el("span", {}, "the world changes")),
    [...new Set(both.map(({ f }) => f.gaps))].map((text) => text && el("li", {}, text)));
  show(byId("distance-told"), courseNow());
  const events = (side, t) => (state.sides[side].replicate?.events ?? []).filter(([round]) => round === t).flatMap(([, ...names]) => names).join(", ");
  const head = ["round", ...SIDES.flatMap((side) => [side, `${side}: the world`])];
  const line = (t) => el("tr", {}, el("th", { scope: "row" }, t), SIDES.flatMap((side) => [el("td", {}, fixed(state.sides[side].replicate?.course[t - 1], 3)), el("td", {}, events(side, t))]));
  show(document.querySelector("#numbers div"), el("table", {}, el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, Array.from({ length: lastRound() }, (_, t) => line(t + 1)))));
}
