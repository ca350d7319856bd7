// The list of a condition's runs: what each came to, failures among them.

const SEAT_COLUMNS = ["agent", "role", "role text", "model"];

function estimateTold(f, entry) {
  if (entry.lambda === undefined) return `no ${entry.symbol}: ${index.meanings[entry.status] ?? entry.status.replaceAll("_", " ")}`;
  return `${entry.symbol} ${fixed(entry.lambda, 3)} ${interval(entry.low, entry.high)}, mean over episodes`;
}

const prepare = (found) => (found.last = Math.max(1, ...found.replicates.map((replicate) => replicate.course.length)));

const ordered = (f) => f.replicates;

function columnsOf(f) {
  const measured = f.metrics.filter((name) => f.replicates.some((r) => name in r.metrics));
  return [
    ["no.", (r) => `#${r.n}`],
    ["world", (r) => `${r.episode ?? "–"}`],
    ["status", (r) => r.status],
    ["rounds", (r) => `${r.course.length}`],
    ...measured.map((name) => [name.replaceAll("_", " "), (r) => fixed(r.metrics[name], 2)]),
  ];
}
