// Failures, and what else is not there: listed, never hidden.

function missing(f, { target, n, failed, pending: open }) {
  show(byId("replicates-count"), `${target} wanted = ${n} completed + ${failed} failed + ${open} pending.`);
  const rest = f.replicates.filter((replicate) => !["completed", "pending"].includes(replicate.status));
  const pending = f.replicates.filter((replicate) => replicate.status === "pending");
  const lines = rest.map((replicate) => el("li", {},
    el("b", {}, `#${replicate.n} ${replicate.status}`),
    said("span", {}, [replicate.reason, place(replicate.at), replicate.detail, begins(replicate.wrote)].filter(Boolean).map((text) => ` · ${text}`).join(""))));
  if (pending.length) lines.push(el("li", {}, el("b", {}, `${pending.length} pending`), ` · begun, not ended: ${pending.map((r) => `#${r.n}`).join(", ")}`));
  if (f.unbegun) lines.push(el("li", {}, el("b", {}, plural(f.unbegun, "replicate")), " not begun, or without a transcript in the store"));
  const hidden = f.replicates.filter((replicate) => replicate.shown === false).length;
  if (hidden) lines.push(el("li", {}, el("b", {}, plural(hidden, "transcript")), " left out of this page to keep it small; their outcomes are here"));
  show(byId("missing"), el("h4", {}, "Failures and what is missing"),
    lines.length ? el("ul", {}, lines) : el("p", { class: "told" }, "None: every replicate completed."));
}

function begins(wrote) {
  if (wrote === undefined) return "";
  return wrote ? `the answer begins: ${wrote}` : "the answer is empty";
}

function place(at) {
  if (!at) return "";
  return [at.call, at.round && `round ${at.round}`, at.seat].filter(Boolean).join(", ");
}
