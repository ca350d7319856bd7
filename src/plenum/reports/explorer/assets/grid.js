// A grid of cells: what stands in them, and which agents are there.

const MAP = { left: 34, top: 8, size: 396 };

const GRID = {
  paint(ground, picture) {
    const size = MAP.size / ground.grid;
    const left = MAP.left + (SCENE.wide - MAP.left - MAP.size) / 2;
    const corner = ([x, y]) => [left + x * size, MAP.top + (ground.grid - 1 - y) * size];
    return [
      ...cellLines(ground.grid, size, left),
      ...picture.marks.map((mark) => {
        const [x, y] = corner(mark.at);
        return svg("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` }, cell(mark, size));
      }),
    ];
  },
  sample: (mark) => glyph("symbol wide", "-1 -1 42 42", cell({ ...mark, words: "" }, 40)),
};

function cellLines(count, size, left) {
  const every = Math.ceil(count / 12);
  const [right, bottom] = [left + MAP.size, MAP.top + MAP.size];
  const parts = [svg("rect", { x: left, y: MAP.top, width: MAP.size, height: MAP.size, class: "ground" })];
  for (let k = 0; k < count; k++) {
    const [x, y] = [left + k * size, bottom - k * size];
    if (k) parts.push(svg("path", { d: `M${x},${MAP.top}V${bottom}M${left},${y}H${right}`, class: "grid" }));
    if (k % every) continue;
    parts.push(svg("text", { x: x + size / 2, y: bottom + 14, "text-anchor": "middle", class: "tick" }, k));
    parts.push(svg("text", { x: left - 6, y: y - size / 2 + 4, "text-anchor": "end", class: "tick" }, k));
  }
  return parts;
}

function cell(mark, size) {
  const units = mark.units ?? [];
  const parts = [svg("title", {}, mark.words)];
  if (mark.weight !== undefined) {
    const box = { x: 1, y: 1, width: size - 2, height: size - 2, rx: size / 9, class: `spot ${mark.tone}` };
    parts.push(svg("rect", { ...box, "fill-opacity": 0.12 + 0.5 * mark.weight }));
  }
  if (mark.text && size > 15) {
    const y = units.length ? size * 0.36 : size * 0.62;
    parts.push(sized(Math.min(size * 0.34, 14), { x: size / 2, y, "text-anchor": "middle", class: "cell-text" }, mark.text));
  }
  if (units.length) parts.push(...chips(units, size, mark.text ? size * 0.7 : size * 0.5));
  return parts;
}

// Agents by their numbers; how many there are where they don't fit.
function chips(units, size, y) {
  const few = units.length <= 3 && size > 22 && units.every((unit) => unit < 100);
  const labels = few ? units : [units.length === 1 ? units[0] : `${units.length}×`];
  const radius = Math.min(size * (labels.length > 2 ? 0.155 : 0.19), 9);
  const wide = few || units.length === 1 ? radius * 2.05 : radius * 3.6;
  return labels.flatMap((label, k) => {
    const x = size / 2 + (k - (labels.length - 1) / 2) * wide;
    const chip = svg("rect", { x: x - wide / 2 + 0.4, y: y - radius, width: wide - 0.8, height: 2 * radius, rx: radius, class: "chip" });
    return [chip, size > 15 && sized(radius * 1.4, { x, y: y + radius * 0.5, "text-anchor": "middle", class: "chip-text" }, label)];
  });
}
