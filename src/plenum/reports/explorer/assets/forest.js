// A condition in a few words and numbers, and its estimate as a line.

function estimateOf(condition) {
  if (condition.lambda === undefined) return condition.status.replaceAll("_", " ");
  const { symbol: letter, lambda, low, high } = condition;
  return `${letter} ${fixed(lambda, 3)} ${interval(low, high)}`;
}

function realised(condition) {
  const { n, target, failed, pending } = condition;
  const rest = [failed && `${failed} failed`, pending && `${pending} pending`].filter(Boolean);
  return [`n ${n}/${target}`, ...rest].join(", ");
}

// The range of the intervals of some conditions, 0 included; of many without the outermost ends.
function forestRange(conditions) {
  const ends = conditions.flatMap((c) => [c.low, c.high, c.lambda]);
  let known = ends.filter((end) => Number.isFinite(end)).sort((a, b) => a - b);
  if (known.length > 1000) known = known.slice(known.length * 0.005, known.length * 0.995);
  if (!known.length) return null;
  const [low, high] = [Math.min(0, known[0]), Math.max(0, known.at(-1))];
  const room = (high - low || 0.1) * 0.04;
  return [low - room, high + room];
}

function forest(condition, range) {
  if (!range || condition.lambda === undefined) return null;
  const x = (value) => (100 * (value - range[0])) / (range[1] - range[0]);
  const line = (from, to, kind, height) => svg("line", { x1: x(from), x2: x(to), y1: 5 - height, y2: 5 + height, class: kind });
  const { low, high, lambda } = condition;
  const parts = [line(0, 0, "zero", 5), Number.isFinite(low) && line(low, high, "limits", 0), line(lambda, lambda, "point", 3.5)];
  return fill(glyph("forest", "0 0 100 10", parts), { preserveAspectRatio: "none" }, []);
}

function tellAxis(range) {
  show(byId("axis"), range && [el("span", {}, fixed(range[0], 2)), el("span", {}, `${index.axis}, dotted: 0`), el("span", {}, fixed(range[1], 2))]);
}

// Whether every word stands in the factors, warnings or the identity of a condition.
function matches({ factors, warnings, id }, words) {
  const named = Object.entries(factors).map(([name, value]) => `${name}=${value}`);
  const text = [...named, ...warnings, id].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

const searched = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
