// One transcript, or two side by side: turn by turn, what differs marked.

// Turns as the page shows them, from the short lists of a talk block.
function turnsOf(talk, replicate) {
  return (talk.replicates[replicate] ?? []).map(([round, seat, text, flags, pref = null, conf = null, tags, thought]) => {
    const told = { pref, conf, tags: (tags ?? []).map((tag) => talk.texts[tag]) };
    return {
      round, seat, ...told, text: talk.texts[text], thought: talk.texts[thought], state: JSON.stringify(Object.values(told)),
      repaired: Boolean(flags & 1), inherited: Boolean(flags & 2), unread: Boolean(flags & 4),
    };
  });
}

async function drawTranscripts() {
  const { pair, number, f } = state;
  const both = pair.length === 2;
  byId("talk").hidden = byId("pair-tools").hidden = !pair.length;
  byId("talk").classList.toggle("alone", !both);
  for (const id of ["to-parting", "to-words", "swap", "only-differences"]) byId(id).hidden = !both;
  state.parting = null;
  if (!pair.length) {
    show(byId("heads"));
    show(byId("talk"));
    return void show(byId("parting"), "Choose a replicate to read what was said, or two to read them next to each other.");
  }
  show(byId("parting"), "Reading…");
  const talk = await block(`talk-${number}`);
  if (state.number !== number || state.pair.join() !== pair.join()) return;
  const sides = pair.map((n) => f.replicates.find((r) => r.n === n));
  const turns = pair.map((n) => turnsOf(talk, n));
  const pairs = both ? alongside(...turns) : turns[0].map((turn) => ({ round: turn.round, seat: turn.seat, left: turn, right: null, alone: true }));
  state.parting = both ? parting(pairs) : null;
  show(byId("heads"), sides.map((replicate, k) => headOf(replicate, f, ["left", "right"][k])));
  show(byId("parting"), partingWords(state.parting, sides, f));
  show(byId("talk"), rounds(pairs, f), ballotsBeside(sides, f));
  if (!both) return;
  const { text, round } = state.parting;
  byId("to-parting").disabled = !round;
  byId("to-words").hidden = !text || text.round === round;
}

function headOf(replicate, f, side) {
  const wording = replicate.variant === undefined ? null : el("span", { class: "small" }, `wording ${wordingOf(replicate)}`);
  const base = replicate.base === undefined ? null : el("span", { class: "small" }, `continues base #${replicate.base} after round ${f.after}`);
  return el("div", { class: `head ${side}` },
    el("b", {}, `#${replicate.n}`), " ",
    symbol(replicate.status === "completed" ? replicate.decision : "", f.options),
    said("span", {}, ` ${outcome(replicate, f)}${replicate.tally ? ` (${replicate.tally})` : ""}`), wording, base);
}

function partingWords(found, sides, f) {
  const gone = sides.filter((replicate) => replicate.shown === false || replicate.status === "damaged");
  if (gone.length) return el("span", { class: "warn" }, `${gone.map((r) => `#${r.n}`).join(" and ")}: no transcript in this page`);
  if (!found) return `#${sides[0].n} is chosen; choose another to compare it with.`;
  const { text, state: differs, round } = found;
  if (!round) return "They never part: texts and states are the same in every turn.";
  const seat = (turn) => f.seats[turn.seat]?.seat ?? "?";
  const first = `They part in round ${round}`;
  const gap = distance(...sides, round);
  const apart = gap === null ? "." : gap ? `, ${brief(gap)} apart by its end.` : ", and are at one place still by its end.";
  const words = text ? ` Texts first differ in round ${text.round}, ${seat(text)}'s turn;` : " Texts never differ;";
  const states = differs ? ` states in round ${differs.round}, ${seat(differs)}'s turn.` : " states never do.";
  const read = sides[0].variant !== sides[1].variant ? " They read different wordings, so they may part at once." : "";
  return [el("b", {}, first), `${apart}${words}${states}${read}`];
}

function rounds(pairs, f) {
  const numbers = [...new Set(pairs.map((pair) => pair.round))];
  const marked = { done: false };
  return numbers.map((round) => {
    const here = state.parting?.round === round;
    const gap = state.parting && distance(...state.pair.map((n) => f.replicates.find((r) => r.n === n)), round);
    const title = el("h4", { class: here ? "here" : null },
      el("button", { type: "button", title: "Set the round", onclick: () => setRound(round) }, `Round ${round}`),
      el("span", { class: "quiet" }, gap === null ? "" : ` ${brief(gap)} apart`),
      here ? el("span", { class: "part-flag" }, "they part here") : null);
    const turns = pairs.filter((pair) => pair.round === round).map((pair) => turnPair(pair, f, marked));
    return el("section", { class: "round", "data-round": round }, title, turns);
  });
}

// A turn of both; `right` is the condition on the right if it is another, and without `marked` nothing
// is marked.
function turnPair(pair, f, marked, right = f) {
  const seat = f.seats[pair.seat] ?? { seat: "?" };
  const label = seat.label && seat.label !== seat.seat ? ` (${seat.label})` : "";
  const name = [said("bdi", {}, `${seat.seat}${label}`), seat.model ? el("span", { class: "quiet" }, ` ${seat.model}`) : null];
  const shown = pair.alone && state.turn ? markedIn : (text) => [text]; // of a hit, what matches
  const words = pair.left && pair.right && marked ? marks(pair, marked) : [pair.left, pair.right].map((turn) => turn && shown(turn.text));
  const cell = (turn, k, other) => turnCell(turn, words[k], [f, right][k], marked && other, shown);
  return cellsBeside(pair, name, cell, right === f ? "no such turn: this replicate had ended" : "no such turn on this side");
}

const flagsOf = (turn) => [turn.repaired && "repaired", turn.inherited && "inherited from the base", turn.unread && "couldn't be read"].filter(Boolean);

function turnCell(turn, words, f, other, shown) {
  return el("div", { class: `turn${turn.unread ? " unread" : ""}` },
    el("p", { class: "words", dir: "auto" }, words),
    turn.pref ? stateLine(turn, f, other) : null,
    flagged(flagsOf(turn)),
    turn.thought ? folded("reasoning, which no other seat read", said("p", { class: "words" }, shown(turn.thought))) : null);
}

// Preferences as a bar and as numbers, confidence, tags; what differs is underlined.
function stateLine(turn, f, other) {
  const differs = (mine, theirs) => (other?.pref && JSON.stringify(mine) !== JSON.stringify(theirs) ? "differs" : null);
  const numbers = turn.pref.map((share, k) => el("span", { class: differs(share, other?.pref?.[k]) }, `${f.options[k]?.[0] ?? "?"} ${share.toFixed(3)}`));
  return el("p", { class: "state" },
    sharesBar(turn.pref.map((share, k) => [100 * share, `c${k % 7}`])),
    numbers.flatMap((number) => [number, " "]),
    el("span", { class: differs(turn.conf, other?.conf) }, `confidence ${turn.conf}`), " ",
    said("span", { class: differs(turn.tags, other?.tags) }, turn.tags.join(", ")));
}

function ballotsBeside(sides, f) {
  const cell = (replicate, seat) => {
    const vote = replicate.ballots.find(([name]) => name === seat);
    return vote ? `${vote[1]}${vote[2] === null ? "" : `, confidence ${vote[2]}`}` : "–";
  };
  const line = (name, values, mark, turn = null) => el("tr", { class: mark ? "apart" : null, "data-turn": turn }, el("th", { scope: "row" }, name), values.map((value) => said("td", {}, value)));
  const body = f.seats.map(({ seat }, k) => {
    const values = sides.map((replicate) => cell(replicate, seat));
    return line(seat, values, new Set(values.map((value) => value.split(",")[0])).size > 1, `ballot.${k}`);
  });
  body.push(line("tally", sides.map((r) => (r.tally ? `${outcome(r, f)} (${r.tally})` : outcome(r, f)))));
  body.push(line("clerk's count", sides.map((r) => (r.clerk ? `${r.clerk[0] ?? "unreadable"}${r.clerk[1] ? "" : ", not the tally"}` : "–"))));
  return el("section", { class: "round ballots" }, el("h4", {}, "Ballots"), table(["seat", ...sides.map((r) => `#${r.n}`)], body));
}

const sectionOf = (round) => byId("talk").querySelector(`[data-round="${Number(round)}"]`);

// Scrolls within the transcripts alone; the page stays where it is.
function scrollTo(round) {
  const section = sectionOf(round);
  if (section) byId("talk").scrollTo({ top: section.offsetTop, behavior: still() ? "instant" : "smooth" });
}

// To the round where they part, the turn that differs first in sight.
function scrollToParting() {
  const section = sectionOf(state.parting?.round);
  if (section) scrollToTurn(section, section.querySelector("mark.first, .differs"));
  else byId("talk").scrollTop = 0;
}

// To the first words that differ, where states differed before.
function scrollToWords() {
  const first = byId("talk").querySelector("mark.first");
  if (first) scrollToTurn(first.closest(".round"), first);
}

// Its round from its beginning on if the turn is in sight then, else the turn below the round's name.
function scrollToTurn(section, first) {
  const turn = first?.closest(".turns") ?? section;
  const below = turn.offsetTop - section.querySelector("h4").offsetHeight - 2;
  const fits = turn.offsetTop + turn.offsetHeight - section.offsetTop < byId("talk").clientHeight;
  byId("talk").scrollTop = fits ? section.offsetTop : below;
}

// What the search finds in committees.
const FINDS = {
  unit: "replicate",
  thought: "Reasoning too",
  selects: { told: "Decision", who: "Seat", model: "Model" },
  boxes: { repaired: "Repaired", failed: "Failed", flipped: "Flipped (decided something else than most)" },
  flags: flagsOf,
  flips: tellFlips,
  spoken: (f, talk, entry) => f.replicates.filter(({ n }) => talk.replicates[n]).flatMap((r) => {
    const of = { n: r.n, entry, told: outcome(r, f), failed: r.status === "failed", flipped: r.status === "completed" && r.decision !== usual(entry) };
    const turns = turnsOf(talk, r.n).map((turn) => ({ ...turn, kind: "argument", thought: false, place: `${turn.round}.${turn.seat}`, reasoning: turn.thought }));
    const ballots = r.ballots.map(([name, vote]) => [f.seats.findIndex(({ seat }) => seat === name), decided(vote, f.options)])
      .map(([seat, text]) => ({ kind: "ballot", round: turns.at(-1)?.round ?? 1, seat, text, place: `ballot.${seat}` }));
    const spoken = turns.flatMap((turn) => (turn.reasoning ? [{ ...turn, text: turn.reasoning, kind: "reasoning", thought: true }, turn] : [turn]));
    return [...spoken, ...ballots].map((turn) => ({ ...turn, of, who: f.seats[turn.seat]?.seat ?? "?", model: f.seats[turn.seat]?.model ?? "" }));
  }),
};

// The decision of most replicates of a condition.
const usual = ({ decisions }) => Object.entries(decisions ?? {}).sort((a, b) => b[1] - a[1])[0]?.[0];

// Replicates that decided something else than most, each beside the one of most that went along
// with it longest: in equal turns, and then within 0.1 of it.
async function tellFlips(numbers) {
  const [rows, links] = [[], new Map()];
  for (const number of numbers) {
    const [f, talk, entry] = [await figures(number), await block(`talk-${number}`), index.conditions[number]];
    const ended = completed(f).filter(({ n }) => talk.replicates[n]);
    const said = new Map(ended.map(({ n }) => [n, talk.replicates[n].map((turn) => `${turn.slice(0, 7)}`)]));
    for (const r of ended.filter(({ decision }) => decision !== usual(entry))) {
      const along = ended.filter(({ decision }) => decision === usual(entry)).map((other) => [other, agree(said.get(r.n), said.get(other.n)), near(r, other)]);
      const [other, turns, rounds] = along.sort((a, b) => b[1] - a[1] || b[2] - a[2])[0] ?? [];
      if (!other) continue;
      const [round, seat] = talk.replicates[r.n][turns] ?? [null, -1];
      rows.push([entry.name, r.n, outcome(r, f), outcome(other, f), other.n, round, f.seats[seat]?.seat ?? null, rounds < f.last ? rounds + 1 : null, rounds < f.last ? farthestSeat(talk, r.n, other.n, rounds + 1, f) : null]);
      links.set(rows.at(-1), new URLSearchParams({ c: entry.id, t: round ?? f.last, a: other.n, b: r.n }));
    }
  }
  const head = ["condition", "replicate", "it decides", "most decide", "beside replicate", "they part in round", "who began it", "0.1 apart from round", "farthest apart then"];
  if (!rows.length) return el("p", {}, "No replicate decided something else than most.");
  const told = "Each stands beside the one of most that goes along with it longest. Whose turn is the first to differ began it; preferences are 0.1 apart from the round told, in which those of the last column's seat differ most. Of decisions that are equally frequent the first counts as most.";
  return tableOf("flipped", "Which replicates flipped, when did they part, and who began it?", told, head, rows, (value, k, row) => (k === 1 ? el("a", { href: `#${links.get(row)}` }, `#${value} beside #${row[4]}`) : value ?? (k > 7 ? "–" : "never")));
}

// The seat whose preferences differ most in a round.
function farthestSeat({ replicates }, left, right, round, f) {
  const stated = (n) => new Map(replicates[n].filter((turn) => turn[0] === round && turn[4]).map((turn) => [turn[1], turn[4]]));
  const [mine, theirs] = [stated(left), stated(right)];
  const gaps = [...mine].map(([seat, pref]) => [Math.hypot(...pref.map((share, k) => share - (theirs.get(seat)?.[k] ?? share))), seat]);
  return f.seats[gaps.sort((a, b) => b[0] - a[0])[0]?.[1]]?.seat ?? null;
}

// In how many turns, or for how many rounds, two replicates go along from the first on.
const agree = (mine, theirs) => upTo(mine.findIndex((turn, k) => turn !== theirs[k]), mine);
const near = (left, right) => upTo(left.points.findIndex((_, k) => (distance(left, right, k + 1) ?? 1) >= 0.1), left.points);
const upTo = (at, list) => (at < 0 ? list.length : at);
