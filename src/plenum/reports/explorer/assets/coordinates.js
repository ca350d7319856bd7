// Parallel coordinates: an axis for each option, a line for each replicate.

const BOX = { left: 62, right: WIDE - 48, top: 22, bottom: HIGH - 44 };

function coordinates(f) {
  const { root, ground, stands, raise } = stage(f, lineOf);
  const place = (round) => {
    const range = shareRange(f, round);
    const y = (share) => BOX.bottom - ((share - range[0]) / (range[1] - range[0])) * (BOX.bottom - BOX.top);
    const x = (k) => BOX.left + (k / (f.options.length - 1)) * (BOX.right - BOX.left);
    show(ground, axes(f, range, x, y));
    for (const stand of stands) placeLine(stand, round, x, y);
    raise();
  };
  return { root, place };
}

function lineOf(replicate, f) {
  const stand = standIn(replicate, f);
  const { kind, dash } = markOf(replicate.decision, f.options);
  const line = svg("path", { class: `line ${kind}`, "stroke-dasharray": dash });
  const reach = svg("path", { class: "reach" });
  stand.mark.querySelector("circle.reach").replaceWith(reach, line);
  stand.trail.classList.add("earlier");
  return { ...stand, line, reach };
}

function placeLine({ replicate, trail, mark, line, reach }, round, x, y) {
  const here = replicate.points[round - 1];
  mark.classList.toggle("absent", !here);
  trail.setAttribute("d", "");
  if (!here) return;
  const path = (shares) => `M${shares.map((share, k) => `${x(k).toFixed(1)},${y(share).toFixed(1)}`).join("L")}`;
  for (const node of [line, reach]) node.setAttribute("d", path(here));
  const top = here.indexOf(Math.max(...here));
  const at = `translate(${x(top).toFixed(1)}px, ${y(here[top]).toFixed(1)}px)`;
  for (const node of mark.querySelectorAll(".halo, .mark, .number")) node.style.transform = at;
  if (sideOf(replicate.n) && state.trails !== "none")
    trail.setAttribute("d", replicate.points.slice(from(round) - 1, round - 1).map(path).join(""));
}

function shareRange(f, round) {
  const values = inSight(f, round).flat();
  if (!values.length) return [0, 1];
  const [low, high] = extent(values);
  const room = Math.max((high - low) * 0.06, 0.005);
  return [Math.max(0, low - room), Math.min(1, high + room)];
}

function axes(f, range, x, y) {
  const step = STEPS.findLast((size) => size <= 0.2 && (range[1] - range[0]) / size <= 8) ?? 0.2;
  const parts = multiples(...range, step).flatMap((value) => levelLine(BOX, y(value), value.toFixed(step < 0.01 ? 3 : step < 0.1 ? 2 : 1)));
  const most = Math.max(3, Math.floor(60 / f.options.length) - 2);
  f.options.forEach(([label, name], k) => {
    parts.push(upright(x(k), BOX.top, BOX.bottom, "axis"), optionName(label, name, most, { x: x(k), y: BOX.bottom + 24, "text-anchor": "middle" }));
  });
  return parts;
}
