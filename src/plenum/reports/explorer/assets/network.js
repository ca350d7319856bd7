// A network: nodes by their state, who is suspected, and which are checked.

const NETWORK = {
  paint(ground, picture) {
    const radius = Math.max(3.5, Math.min(11, 78 / Math.sqrt(ground.nodes.length)));
    const places = ground.nodes.map(([x, y]) => [20 + x * (SCENE.wide - 40), 20 + y * (SCENE.high - 40)]);
    const lines = ground.edges.map(([a, b]) => `M${places[a].map((n) => n.toFixed(1))}L${places[b].map((n) => n.toFixed(1))}`);
    const marks = new Map(picture.marks.map((mark) => [mark.at[0], mark]));
    return [
      svg("path", { d: lines.join(""), class: "edge" }),
      ...places.map(([x, y], node) => {
        const mark = marks.get(node) ?? { tone: "plain", words: "" };
        return svg("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` }, nodeParts({ ...mark, text: radius > 7 ? node : "" }, radius));
      }),
    ];
  },
  sample: (mark) => glyph("symbol", "-14 -14 28 28", nodeParts({ ...mark, words: "" }, 9)),
};

// Misplaced nodes are squares, so that colour alone tells nothing.
function nodeParts(mark, radius) {
  const units = mark.units ?? [];
  const side = radius * 0.9;
  const shape = mark.tone === "bad"
    ? svg("rect", { x: -side, y: -side, width: 2 * side, height: 2 * side, class: "node bad" })
    : svg("circle", { r: radius, class: `node ${mark.tone}` });
  return [
    svg("title", {}, mark.words || (mark.text === "" ? "" : `Node ${mark.text}`)),
    shape,
    mark.dashed ? svg("circle", { r: radius + 3.2, class: "suspect" }) : null,
    units.length ? svg("circle", { r: radius + (mark.dashed ? 6 : 3.2), class: "checked" }) : null,
    mark.text === "" ? null : sized(radius, { y: radius * 0.36, "text-anchor": "middle", class: `node-text ${mark.tone}` }, mark.text),
    units.length > 1 ? svg("text", { x: radius + 3, y: -radius - 1, class: "count" }, `${units.length}×`) : null,
  ];
}
