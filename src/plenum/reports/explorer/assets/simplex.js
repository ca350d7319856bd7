// The simplex of three options, and the polygon with a corner for each of more.

const RADIUS = 196;
const FRAME = { x: 6, y: 6, width: WIDE - 12, height: HIGH - 12 };
const STEPS = [0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

function corners(count) {
  const middle = [WIDE / 2, count === 3 ? 244 : HIGH / 2];
  const radius = count === 3 ? RADIUS : 140;
  return Array.from({ length: count }, (_, k) => {
    const angle = (2 * Math.PI * k) / count - Math.PI / 2;
    return [middle[0] + radius * Math.cos(angle), middle[1] + radius * Math.sin(angle)];
  });
}

const weighted = (shares, points) => [0, 1].map((axis) => shares.reduce((sum, share, k) => sum + share * points[k][axis], 0));

// The map from the unzoomed plane to the page.
function lens(f, at, round) {
  const points = inSight(f, round).map(at);
  if (!points.length) return { scale: 1, middle: [WIDE / 2, HIGH / 2] };
  const ends = [0, 1].map((axis) => extent(points.map((point) => point[axis])));
  const [wide, high] = ends.map(([low, top]) => Math.max(top - low, 4));
  const scale = Math.max(1, Math.min((FRAME.width - 90) / wide, (FRAME.height - 90) / high));
  return { scale, middle: ends.map(([low, top]) => (low + top) / 2) };
}

const through = ({ scale, middle }, [x, y]) => [(x - middle[0]) * scale + WIDE / 2, (y - middle[1]) * scale + HIGH / 2];
const behind = ({ scale, middle }, [x, y]) => [(x - WIDE / 2) / scale + middle[0], (y - HIGH / 2) / scale + middle[1]];

function simplex(f) {
  const points = corners(f.options.length);
  const at = (shares) => weighted(shares, points);
  const { root, ground, stands, raise } = stage(f, standIn, { "clip-path": "url(#frame-clip)" });
  const front = svg("g", { class: "front" });
  ground.before(svg("defs", {}, svg("clipPath", { id: "frame-clip" }, svg("rect", FRAME))));
  ground.after(front);
  let glass = null;
  const put = (shares) => through(glass, at(shares));
  const look = (round) => {
    glass = lens(f, at, round);
    const corner = emptiest(f, put);
    show(ground, simplexGround(f, points, glass, corner));
    show(front, glass.scale > 1 ? inset(f, points, glass, corner) : []);
  };
  const place = (round) => {
    if (!glass || state.zoom === "round") look(round);
    for (const stand of stands) placeStand(stand, round, put);
    raise();
  };
  return { root, place };
}

function placeStand({ replicate, trail, mark }, round, put) {
  const here = replicate.points[Math.min(round, replicate.points.length) - 1];
  mark.classList.toggle("absent", !here || round > replicate.points.length);
  if (!here) return;
  const [x, y] = put(here);
  mark.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
  mark.classList.toggle("outside", x < 0 || y < 0 || x > WIDE || y > HIGH);
  const first = sideOf(replicate.n) ? 1 : from(round);
  const steps = replicate.points.slice(first - 1, round).map(put);
  const path = steps.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join("L");
  trail.setAttribute("d", steps.length > 1 ? `M${path}` : "");
}

function simplexGround(f, points, glass, corner) {
  const put = (point) => through(glass, point);
  const edge = points.map((point) => put(point).map((x) => x.toFixed(1)).join()).join(" ");
  const parts = [svg("polygon", { points: edge, class: "ground", "clip-path": "url(#frame-clip)" })];
  if (f.options.length === 3) parts.push(...grid(f, points, glass, corner));
  if (glass.scale > 1) parts.push(svg("rect", { ...FRAME, class: "edge" }));
  else parts.push(...cornerNames(f, points));
  return parts;
}

function cornerNames(f, points) {
  return f.options.map(([label, name], k) => {
    const [x, y] = points[k];
    const away = Math.sign(Math.round(y - HIGH / 2)) || 1;
    const anchor = Math.abs(x - WIDE / 2) < 1 || f.options.length === 3 ? "middle" : x > WIDE / 2 ? "start" : "end";
    const shift = { start: 6, middle: 0, end: -6 }[anchor];
    return optionName(label, name, f.options.length === 3 ? 26 : 11, { x: x + shift, y: y + (away > 0 ? 22 : -12), "text-anchor": anchor });
  });
}

// Lines of equal preference for each option, at steps that leave room between them.
function grid(f, points, glass, corner) {
  const taken = glass.scale > 1 ? [[...corner, CARD.width, CARD.height], [FRAME.x, HIGH - 40, 135, 40]] : [];
  const height = 1.5 * RADIUS * glass.scale;
  const step = STEPS.findLast((size) => size * height >= 44) ?? STEPS[0];
  return points.flatMap((_, k) => {
    const [low, high] = sharesInFrame(points, glass, k);
    const shares = multiples(Math.max(step, low), Math.min(1 - step, high), step);
    return shares.map((share) => gridLine(f, points, glass, k, share, step, taken));
  });
}

function gridLine(f, points, glass, k, share, step, taken) {
  const [i, j] = [(k + 1) % 3, (k + 2) % 3];
  const end = (other) => {
    const shares = [0, 0, 0];
    [shares[k], shares[other]] = [share, 1 - share];
    return through(glass, weighted(shares, points));
  };
  const cut = clipped(end(i), end(j));
  if (!cut) return [];
  const [[x1, y1], [x2, y2]] = cut;
  const text = glass.scale > 1 ? `${f.options[k][0]} ${share.toFixed(step < 0.01 ? 3 : 2)}` : share.toFixed(1);
  const inward = Math.sign(x2 - x1) || 1;
  const label = { x: x1 + (glass.scale > 1 ? 8 * inward : -9 * inward), y: y1 + (glass.scale > 1 ? clampedShift(y1) : 3), class: `tick t${k}`, "text-anchor": glass.scale > 1 ? (inward > 0 ? "start" : "end") : "middle" };
  const line = svg("line", { x1, y1, x2, y2, class: "grid" });
  return [line, free([inward > 0 ? label.x : label.x - 42, label.y - 10, 42, 12], glass, taken) && svg("text", label, text)];
}

// Whether a label has a place of its own in the frame; if so, the place is taken from now on.
function free([x, y, width, height], glass, taken) {
  if (glass.scale === 1) return true;
  const inside = x > FRAME.x && x + width < FRAME.x + FRAME.width;
  const apart = taken.every(([a, b, c, d]) => x + width < a || x > a + c || y + height < b || y > b + d);
  if (inside && apart) taken.push([x, y, width, height]);
  return inside && apart;
}

const clampedShift = (y) => (y < 20 ? 12 : y > HIGH - 20 ? -5 : -3);

// How far preference for an option reaches within the frame; it is linear in the plane.
function sharesInFrame(points, glass, k) {
  const middle = weighted([1 / 3, 1 / 3, 1 / 3], points);
  const out = [0, 1].map((axis) => (points[k][axis] - middle[axis]) / RADIUS);
  const found = [];
  for (const x of [FRAME.x, FRAME.x + FRAME.width])
    for (const y of [FRAME.y, FRAME.y + FRAME.height]) {
      const plain = behind(glass, [x, y]);
      const along = out[0] * (plain[0] - middle[0]) + out[1] * (plain[1] - middle[1]);
      found.push(1 / 3 + (2 / 3) * (along / RADIUS));
    }
  return extent(found);
}

// The part of a line that lies in the frame (Liang and Barsky).
function clipped([x1, y1], [x2, y2]) {
  let [start, end] = [0, 1];
  const sides = [
    [x1 - x2, x1 - FRAME.x], [x2 - x1, FRAME.x + FRAME.width - x1],
    [y1 - y2, y1 - FRAME.y], [y2 - y1, FRAME.y + FRAME.height - y1],
  ];
  for (const [p, q] of sides) {
    if (p === 0 && q < 0) return null;
    if (p < 0) start = Math.max(start, q / p);
    if (p > 0) end = Math.min(end, q / p);
  }
  if (start >= end) return null;
  const point = (part) => [x1 + part * (x2 - x1), y1 + part * (y2 - y1)];
  return [point(start), point(end)];
}

const CARD = { width: 138, height: 92 };

// The corner of the frame with the fewest points of all trails, for the inset to stand in.
function emptiest(f, put) {
  const [right, bottom] = [WIDE - 11 - CARD.width, HIGH - 11 - CARD.height];
  const places = [[right, 11], [11, 11], [right, bottom]];
  const points = f.replicates.flatMap((replicate) => replicate.points.map(put));
  const hidden = ([x, y]) =>
    points.filter(([a, b]) => a > x - 8 && a < x + CARD.width + 8 && b > y - 8 && b < y + CARD.height + 8).length;
  return places.reduce((least, corner) => (hidden(corner) < hidden(least) ? corner : least));
}

// Where the zoomed part lies in the whole, and a bar to measure by.
function inset(f, points, glass, [cornerX, cornerY]) {
  const size = 0.19;
  const middle = [cornerX + CARD.width / 2, cornerY + 41];
  const shrink = ([x, y]) => [middle[0] + (x - WIDE / 2) * size, middle[1] + (y - HIGH / 2) * size];
  const ends = [[FRAME.x, FRAME.y], [FRAME.x + FRAME.width, FRAME.y + FRAME.height]];
  const [[left, top], [right, bottom]] = ends.map((end) => shrink(behind(glass, end)));
  const parts = [
    svg("rect", { x: cornerX, y: cornerY, ...CARD, class: "card" }),
    svg("polygon", { points: points.map((p) => shrink(p).join()).join(" "), class: "whole" }),
    svg("rect", { x: left, y: top, width: Math.max(right - left, 2), height: Math.max(bottom - top, 2), class: "part" }),
    ...f.options.map(([label], k) => {
      const [x, y] = shrink(points[k]);
      return svg("text", { x: x + (x > middle[0] ? 5 : -5), y: y + 3, "text-anchor": x > middle[0] ? "start" : "end", class: "tick" }, label);
    }),
  ];
  return f.options.length === 3 ? [...parts, ...scaleBar(glass)] : parts;
}

// Corners are √2 apart on the simplex and √3 radii in the plane.
function scaleBar(glass) {
  const unit = (RADIUS * Math.sqrt(3) * glass.scale) / Math.SQRT2;
  const size = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001].find((length) => length * unit < 120) ?? 0.001;
  const [x, y] = [20, HIGH - 18];
  return [
    svg("rect", { x: x - 7, y: y - 17, width: size * unit + 14, height: 26, class: "card" }),
    svg("path", { d: `M${x},${y - 4}v4h${(size * unit).toFixed(1)}v-4`, class: "ruler" }),
    svg("text", { x: x + (size * unit) / 2, y: y - 5, "text-anchor": "middle", class: "tick" }, `distance ${size}`),
  ];
}
