// Two replicates side by side: where they part, which words differ, and their cells.

// The same turns of both, in order; where one has ended its side is null.
function alongside(left, right) {
  const sides = [left, right].map((turns) => new Map(turns.map((turn) => [`${turn.round}/${turn.seat}/${turn.step ?? ""}`, turn])));
  const all = [...new Map([...sides[0], ...sides[1]])];
  return all.map(([key, { round, seat, step }]) => {
    const [one, other] = sides.map((turns) => turns.get(key) ?? null);
    const differs = (name) => !one || !other || one[name] !== other[name];
    return { round, seat, step, left: one, right: other, text: differs("text"), state: differs("state") };
  }).sort((a, b) => a.round - b.round);
}

// The first turn whose text differs, and the first whose state does; null where none does.
function parting(pairs) {
  const text = pairs.find((pair) => pair.text) ?? null;
  const state = pairs.find((pair) => pair.state) ?? null;
  const both = [text, state].filter(Boolean).map((pair) => pair.round);
  return { text, state, round: both.length ? Math.min(...both) : null };
}

const MOST = 4e6; // cells of the table beyond which only equal ends are looked for

// Which words differ, in runs: [same, words of the left, words of the right].
function differences(left, right) {
  const [a, b] = [left, right].map((text) => text.match(/\S+\s*/g) ?? []); // with the space that follows
  const bare = (words) => words.map((word) => word.trimEnd());
  return runsOf(bare(a), bare(b)).map(([same, i, m, j, n]) => [same, a.slice(i, m), b.slice(j, n)]);
}

// Runs as ranges: [same, from and to on the left, from and to on the right].
function runsOf(a, b) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (a.length > start + end && b.length > start + end && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [m, n] = [a.length - end, b.length - end];
  const inner = between(a.slice(start, m), b.slice(start, n), start);
  const runs = [[true, 0, start, 0, start], ...inner, [true, m, a.length, n, b.length]];
  return joined(runs.filter(([, i, k, j, l]) => k > i || l > j));
}

// Inner words by their longest common subsequence; `from` is how many stand before them.
function between(a, b, from) {
  const all = [false, from, from + a.length, from, from + b.length];
  if (!a.length || !b.length || a.length * b.length > MOST) return [all];
  const table = common(a, b);
  const wide = b.length + 1;
  const runs = [];
  let [i, j] = [0, 0];
  const put = (same, m, n) => {
    runs.push([same, from + i, from + m, from + j, from + n]);
    [i, j] = [m, n];
  };
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) put(true, i + 1, j + 1);
    else if (table[(i + 1) * wide + j] >= table[i * wide + j + 1]) put(false, i + 1, j);
    else put(false, i, j + 1);
  }
  put(false, a.length, b.length);
  return runs;
}

// Lengths of the longest common subsequences of all ends.
function common(a, b) {
  const wide = b.length + 1;
  const table = new Uint16Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * wide + j] = a[i] === b[j] ? table[(i + 1) * wide + j + 1] + 1 : Math.max(table[(i + 1) * wide + j], table[i * wide + j + 1]);
  return table;
}

const SHORT = 3; // fewer equal words between differing ones are chance, and tear a phrase apart

// Neighbouring runs of one kind become one.
function joined(runs) {
  const merged = neighbours(runs);
  const inner = (k) => k > 0 && k < merged.length - 1;
  return neighbours(merged.map((run, k) => (run[0] && inner(k) && run[2] - run[1] < SHORT ? [false, ...run.slice(1)] : run)));
}

function neighbours(runs) {
  const found = [];
  for (const run of runs) {
    const last = found.at(-1);
    if (last && last[0] === run[0]) [last[2], last[4]] = [run[2], run[4]];
    else found.push([...run]);
  }
  return found;
}

const FIRST = 4; // words of the first difference that stand out

// The words of both sides, those that differ in marks; the very first ones stand out.
function marks(pair, marked) {
  const sides = [[], []];
  for (const [same, ...words] of differences(pair.left.text, pair.right.text)) {
    const first = !same && !marked.done;
    if (first) marked.done = true;
    words.forEach((run, k) => {
      if (same) sides[k].push(run.join(""));
      else sides[k].push(...(first ? firstMarks(run) : [inMark(run)]));
    });
  }
  return sides;
}

// A run in a mark; the space behind it stays outside.
function inMark(run, kind = null) {
  const text = run.join("");
  return text ? [el("mark", { class: kind }, text.trimEnd()), text.slice(text.trimEnd().length)] : [];
}

// The first differing run: its first words stand out, or the place where none are.
function firstMarks(run) {
  if (!run.length) return [el("mark", { class: "first gap", title: "nothing stands here on this side" }, "▵"), " "];
  return [inMark(run.slice(0, FIRST), "first"), inMark(run.slice(FIRST))];
}

// What both said at one place, or what one did alone; a single cell where it is the same in both.
function cellsBeside(pair, name, cell, nothing, kind = "") {
  const same = !pair.alone && !pair.text && !pair.state;
  const cells = same || pair.alone ? [cell(pair.left, 0, null)] : ["left", "right"].map((side, k) =>
    pair[side] ? cell(pair[side], k, pair[k ? "left" : "right"]) : el("div", { class: "turn none" }, nothing));
  const place = [pair.round, pair.seat, pair.step].filter((part) => part !== undefined).join(".");
  return el("div", { class: `turns${same ? " same" : ""}${kind}`, "data-turn": place },
    el("h5", {}, name, same ? el("span", { class: "quiet" }, " · the same in both") : null), cells);
}

// A private text, folded.
const folded = (summary, ...content) => el("details", { class: "reasons" }, el("summary", {}, summary), content);
const flagged = (flags) => flags.map((flag) => el("span", { class: "flag" }, flag));
