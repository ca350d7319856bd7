// What is known of the condition: estimates, warnings, factors, seats.

function aboutCondition() {
  byId("fresh").hidden = true;
  const { f, entry } = state;
  show(byId("condition-title"), said("bdi", {}, entry.name), el("code", { class: "quiet", title: "the condition's identity" }, ` ${entry.id}`));
  show(byId("estimate"), el("b", {}, estimateTold(f, entry)), ` · ${realised(entry)} · `, el("span", { class: "quiet" }, f.provenance === index.provenance ? `backend ${entry.factors.backend}` : f.provenance));
  show(byId("warnings"), entry.warnings.map((name) => el("li", {}, el("b", {}, `⚠ ${name.replaceAll("_", " ")}`), `: ${index.meanings[name] ?? "see docs/estimates.md"}`)));
  const pairs = (list) => list.flatMap(([name, value]) => [el("dt", {}, name), said("dd", {}, value)]);
  show(byId("facts"), pairs(f.facts.length ? f.facts : [["estimates", "none"]]));
  show(byId("factors"), pairs(Object.entries(entry.factors)));
  const cells = (seat) => [seat.seat, seat.label ?? "–", seat.mandate === undefined ? "–" : seat.mandate ? "yes" : "no", seat.model ?? "–"];
  show(byId("seats"), table(SEAT_COLUMNS, f.seats.map(cells)));
}

function aboutStudy() {
  show(byId("provenance"), index.provenance);
  const usual = ["none", "default", "deliberation"];
  const told = index.common.filter(([, value]) => !usual.includes(value)).map(([name, value]) => `${name}=${value}`);
  const back = index.whole && el("a", { href: index.whole }, `All ${index.total.toLocaleString("en")} conditions`);
  show(byId("common"), back, back && told.length ? " · " : "", told.length ? `In all conditions: ${told.join(", ")}` : "");
}
