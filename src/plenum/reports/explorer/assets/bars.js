// Panels of bars, with levels across them and ticks on them.

const PANEL = { top: 34, bottom: 30, left: 40, gap: 46 };

const BARS = {
  paint(ground, picture) {
    const counts = ground.panels.map((_, panel) => picture.marks.filter((mark) => mark.at[0] === panel).length);
    const shares = counts.map((count) => Math.sqrt(Math.max(1, count)));
    const room = SCENE.wide - PANEL.left - PANEL.gap * (counts.length - 1) - 8;
    const all = shares.reduce((a, b) => a + b, 0);
    let x = PANEL.left;
    return ground.panels.flatMap((panel, at) => {
      const box = { x, width: (room * shares[at]) / all, count: counts[at] };
      x += box.width + PANEL.gap;
      return panelOf(panel, box, picture.marks.filter((mark) => mark.at[0] === at), (picture.lines ?? []).filter((line) => line.panel === at));
    });
  },
  sample: (mark) => glyph("symbol", "0 0 16 16",
    svg("rect", { x: 3, y: 2, width: 10, height: 14, class: `bar ${mark.tone}` }),
    mark.tick === undefined ? null : svg("path", { d: "M1,8H15", class: "tick-line" })),
  // The same values lie equally high on both sides.
  shared: (ground, other) => ({
    panels: ground.panels.map(([title, low, high], k) => [title, Math.min(low, other.panels[k]?.[1] ?? low), Math.max(high, other.panels[k]?.[2] ?? high)]),
  }),
};

function panelOf([title, low, high], box, marks, lines) {
  const bottom = SCENE.high - PANEL.bottom;
  const y = (value) => bottom - ((value - low) / (high - low || 1)) * (bottom - PANEL.top);
  const step = box.width / Math.max(1, box.count);
  const parts = [svg("text", { x: box.x, y: 14, class: "panel-title" }, title)];
  const frame = { left: box.x, right: box.x + box.width };
  for (const value of roundValues(low, high)) parts.push(...levelLine(frame, y(value), brief(value), value ? "grid" : "axis"));
  for (const mark of marks) parts.push(barOf(mark, box.x + mark.at[1] * step, step, y, bottom));
  for (const line of lines) {
    parts.push(svg("line", { x1: box.x - 3, x2: box.x + box.width + 3, y1: y(line.value), y2: y(line.value), class: "level-line" }));
    parts.push(svg("text", { x: box.x, y: y(line.value) - 5, class: "level-text" }, line.text));
  }
  return parts;
}

function barOf(mark, x, step, y, bottom) {
  const [from, to] = [y(0), y(mark.value)].sort((a, b) => a - b);
  const inner = Math.max(step * 0.72, 0.8);
  const left = x + (step - inner) / 2;
  return svg("g", {},
    svg("title", {}, mark.words),
    svg("rect", { x: left, y: from, width: inner, height: Math.max(to - from, 0.6), class: `bar ${mark.tone}` }),
    mark.tick === null || mark.tick === undefined ? null : svg("path", { d: `M${left - 2},${y(mark.tick)}h${inner + 4}`, class: "tick-line" }),
    step > 11 ? svg("text", { x: x + step / 2, y: bottom + 15, "text-anchor": "middle", class: "tick" }, mark.text) : null);
}

// A few round values within a range.
function roundValues(low, high) {
  const raw = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= raw);
  return multiples(low, high, step);
}
