// Plots: a frame has its size, the ends of its axes, and, by round, the last one.

const roundX = ({ left, right, last }, round) =>
  last === 1 ? (left + right) / 2 : left + 10 + ((round - 1) / (last - 1)) * (right - left - 20);

// A level with its name on the left.
const levelLine = ({ left, right }, y, text, kind = "grid") => [
  svg("line", { x1: left, x2: right, y1: y, y2: y, class: kind }),
  svg("text", { x: left - 7, y: y + 3.5, "text-anchor": "end", class: "tick" }, text),
];

const upright = (x, top, bottom, kind) => svg("line", { x1: x, x2: x, y1: top, y2: bottom, class: kind });

// Numbers of rounds, as many as have room.
function roundAxis(frame) {
  const { left, right, last, ticks, foot, most } = frame;
  const every = [1, 2, 5, 10, 20, 50, 100].find((n) => last / n <= most) ?? 200;
  const told = Array.from({ length: last }, (_, t) => t + 1).filter((t) => t === 1 || (t % every === 0 && t - 1 > every / 2));
  const text = (x, y, words) => svg("text", { x, y, "text-anchor": "middle", class: "tick" }, words);
  return [...told.map((t) => text(roundX(frame, t), ticks, t)), text((left + right) / 2, foot, "round")];
}

// A line that breaks where there is no value or no place for it; 0 on a logarithmic axis is hollow.
function curve(frame, values, y, kind, round = state.round) {
  const stands = (value) => value !== null && Number.isFinite(y(value));
  let path = "";
  const dots = values.map((value, t) => {
    if (value === null) return null;
    const [cx, cy] = [roundX(frame, t + 1), y(value)];
    const now = t + 1 === round ? " here" : "";
    if (!stands(value)) return svg("circle", { cx, cy: ZERO, r: 3, class: `zero ${kind}${now}` });
    path += `${stands(values[t - 1]) ? "L" : "M"}${cx.toFixed(1)},${cy.toFixed(1)}`;
    return svg("circle", { cx, cy, r: now ? 5 : 2.6, class: `dot ${kind}${now}` });
  });
  return [svg("path", { d: path, class: `curve ${kind}` }), ...dots];
}

const lineKey = (kind, ...text) => el("li", {}, glyph("key", "0 0 26 10", svg("path", { d: "M1,5H25", class: kind })), el("span", {}, text));

function clickRound({ clientX, currentTarget }, { wide, left, right, last }) {
  const box = currentTarget.getBoundingClientRect();
  const share = (((clientX - box.left) / box.width) * wide - left - 10) / (right - left - 20);
  setRound(Math.min(last, Math.max(1, Math.round(1 + share * (last - 1)))));
}

// The smallest and the largest of many values.
const extent = (values) => [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];

// Whole multiples of a step between two values.
function multiples(low, high, step) {
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, k) => Number(((first + k) * step).toPrecision(6)));
}
