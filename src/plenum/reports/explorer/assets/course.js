// Performance by round of both runs, over the means of their conditions, and when shocks came.

const COURSE = { wide: 960, high: 168, left: 44, right: 950, top: 20, bottom: 136, ticks: 151, foot: 166, most: 25 };
const courseY = (value) => COURSE.bottom - value * (COURSE.bottom - COURSE.top);

function drawCourse() {
  const { left, right } = state.sides;
  const frame = { ...COURSE, last: lastRound() };
  const line = (values, kind) => curve(frame, values, courseY, kind);
  const about = { class: "clickable", onclick: (event) => clickRound(event, frame), "aria-label": `Performance by round. ${courseNow()}` };
  show(document.querySelector("#course .canvas"), svg("svg", { viewBox: `0 0 ${COURSE.wide} ${COURSE.high}`, role: "img", ...about },
    [0, 0.5, 1].map((value) => levelLine(COURSE, courseY(value), value, value ? "grid" : "axis")),
    roundAxis(frame),
    line(left.f.mean, "mean left")[0], line(right.f.mean, "mean right")[0],
    courseEvents(frame),
    upright(roundX(frame, state.round), COURSE.top - 4, COURSE.bottom, "now"),
    line(left.replicate?.course ?? [], "left"), line(right.replicate?.course ?? [], "right")));
  courseWords();
}

// What happened to the worlds: those of the left above, those of another world below.
function courseEvents(frame) {
  return SIDES.slice(0, sameWorld() ? 1 : 2).flatMap((side, k) =>
    (state.sides[side].replicate?.events ?? []).map(([round, ...names]) =>
      svg("path", { d: `M${roundX(frame, round)},${k ? COURSE.bottom - 2 : COURSE.top - 8}l-4.5,${k ? 8 : -8}h9Z`, class: `event ${side}` }, svg("title", {}, `round ${round}: ${names.join(", ")}`))));
}

function courseNow() {
  const values = SIDES.map((side) => state.sides[side]).filter(({ replicate }) => replicate);
  return values.map(({ replicate, f }, k) => `${SIDES[k]} ${f.performance} ${fixed(replicate.course[state.round - 1], 2)}`).join(" · ");
}

function courseWords() {
  const both = SIDES.map((side) => state.sides[side]);
  show(byId("course-title"), [...new Set(both.map(({ f }) => f.performance))].join(" and "), " by round");
  show(byId("course-legend"), both.flatMap(({ replicate, entry }, k) => [
    lineKey(`curve ${SIDES[k]}`, `${SIDES[k]}: run #${replicate?.n ?? "–"}`),
    lineKey(`curve mean ${SIDES[k]}`, `mean of its condition, n ${entry.n}`),
  ]), el("li", {}, glyph("symbol", "-6 -10 12 12", svg("path", { d: "M0,0l-4.5,-8h9Z", class: "event left" })), el("span", {}, "the world changes")),
    [...new Set(both.map(({ f }) => f.gaps))].map((text) => text && el("li", {}, text)));
  show(byId("distance-told"), courseNow());
  const events = (side, t) => (state.sides[side].replicate?.events ?? []).filter(([round]) => round === t).flatMap(([, ...names]) => names).join(", ");
  const head = ["round", ...SIDES.flatMap((side) => [side, `${side}: the world`])];
  const line = (t) => [t, ...SIDES.flatMap((side) => [fixed(state.sides[side].replicate?.course[t - 1], 3), events(side, t)])];
  show(document.querySelector("#numbers div"), table(head, Array.from({ length: lastRound() }, (_, t) => line(t + 1))));
}
