// The list of replicates: what each decided and how, failures among them.

// Trajectories as points: path[t] is a share for each option.
function prepare(found) {
  const width = found.options.length;
  for (const replicate of found.replicates) {
    const shares = replicate.path.map((whole) => whole / 1e6);
    replicate.points = Array.from({ length: Math.floor(shares.length / width) }, (_, t) => shares.slice(t * width, (t + 1) * width));
  }
  found.last = Math.max(1, found.D.length, ...found.replicates.map((r) => r.points.length));
}

const apart = (a, b) => (a && b ? Math.hypot(...a.map((share, k) => share - b[k])) : null);
const distance = (first, second, round) => apart(first.points[round - 1], second.points[round - 1]);

function outcome(replicate, f) {
  if (replicate.status === "completed") return decided(replicate.decision, f.options);
  if (replicate.status === "failed") return `failed: ${replicate.reason ?? "no reason told"}`;
  return replicate.status;
}

const ORDERS = [["n", "number"], ["decision", "decision"], ["middle", "distance from the mean"], ["status", "status"]];

function fromMiddle(f) {
  const here = completed(f).map((r) => r.points[state.round - 1]).filter(Boolean);
  if (!here.length) return () => 0;
  const mean = here[0].map((_, k) => here.reduce((sum, point) => sum + point[k], 0) / here.length);
  return (replicate) => -(apart(replicate.points[state.round - 1], mean) ?? -1);
}

function ordered(f) {
  const keys = {
    n: () => 0,
    decision: (r) => (r.status === "completed" ? r.decision : "~"),
    middle: fromMiddle(f),
    status: (r) => ["failed", "damaged", "pending", "completed"].indexOf(r.status),
  };
  return [...f.replicates].sort((a, b) => {
    const [x, y] = [a, b].map(keys[state.order]);
    return x < y ? -1 : x > y ? 1 : a.n - b.n;
  });
}

function columnsOf(f) {
  const seats = f.seats.map((seat) => seat.seat).join(", ");
  const has = (name) => f.replicates.some((r) => r[name] !== undefined);
  return [
    ["no.", (r) => `#${r.n}`],
    has("base") && ["base", (r) => `#${r.base}`],
    has("variant") && ["wording", (r) => said("span", { class: "wording", title: visible(wordingOf(r)) }, wordingOf(r))],
    ["decision", (r) => [symbol(r.status === "completed" ? r.decision : "", f.options), said("span", { title: visible(outcome(r, f)) }, outcome(r, f))]],
    ["votes", (r) => votes(r, f), visible(`in speaking order: ${seats}`)],
    ["rounds", (r) => `${r.points.length}`],
    ["repairs", (r) => `${r.repairs ?? "–"}`],
  ].filter(Boolean);
}

const wordingOf = (replicate) =>
  replicate.variant === undefined ? "–" : replicate.variant.startsWith(replicate.family) ? replicate.variant : `${replicate.variant} (${replicate.family})`;

// Ballots in the order of seats, a letter each; the seat's name on pointing at it.
function votes(replicate, f) {
  if (!replicate.ballots.length) return "–";
  const letters = replicate.ballots.map(([seat, decision]) =>
    said("span", { class: `vote ${markOf(decision, f.options).kind}`, title: visible(`${seat}: ${decision}`) }, decision));
  const agrees = replicate.clerk && !replicate.clerk[1] ? el("span", { class: "warn", title: "the clerk counted differently" }, " ⚠") : null;
  return [letters, agrees];
}

const shownOf = (f) => completed(f).filter((r) => r.shown !== false);

// The completed two that are farthest apart in this round.
function farthestPair(f) {
  return best(shownOf(f), (a, b) => distance(a, b, state.round) ?? -1);
}

// Those that decide differently and stay together longest; among them those that end farthest apart.
function latestSplit(f) {
  return best(shownOf(f), (a, b) => {
    if (a.decision === b.decision) return -1;
    return near(a, b) + (distance(a, b, f.last) ?? 0) / 2;
  });
}
