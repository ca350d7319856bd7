// Search: what was said in all conditions, and who said it first. FINDS says what a kind has.

const SLICE = 12; // ms of searching, after which the page may draw and listen
const LISTED = 200;
const sought = { run: 0, link: null, asked: null, opened: null };
const heard = new WeakMap(); // by talk block: all its turns, in order

async function spokenIn(number) {
  const [f, talk] = [await figures(number), await block(`talk-${number}`)];
  if (!heard.has(talk)) heard.set(talk, FINDS.spoken(f, talk, index.conditions[number]));
  return heard.get(talk);
}

// Reads all conditions, and offers what occurs in them to be chosen.
async function warmUp() {
  const all = [];
  for (const number of index.conditions.keys()) all.push(await spokenIn(number));
  for (const name of Object.keys(FINDS.selects)) {
    const met = new Set(all.flatMap((turns) => turns.map((turn) => turn[name] ?? turn.of[name])));
    offer(name, [...met].filter(Boolean).sort(), byId("seek").elements[name].value);
  }
}

const offer = (name, values, chosen) => choices(byId("seek").elements[name], [["", "any"], ...values.map((value) => [value, value])], chosen);

function makeSearch(form) {
  const [selects, boxes] = [FINDS.selects, FINDS.boxes].map(Object.entries);
  form.elements.c.closest("label").after(...selects.map(([name, label]) => el("label", {}, `${label} `, el("select", { name }))));
  byId("seek-clear").before(...boxes.map(([name, label]) => el("label", {}, el("input", { type: "checkbox", name, value: 1 }), ` ${label}`)));
  show(byId("seek-thought"), FINDS.thought);
  form.addEventListener("input", seek);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(seek)); // once its fields are empty
  form.parentElement.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && sought.busy) event.preventDefault() ?? tellHits("Stopped: ");
  });
  byId("seek-more").addEventListener("click", () => listHits(sought.listed + LISTED));
  byId("hits").addEventListener("click", (event) => (sought.opened = event.target.closest("a") ?? sought.opened));
  rove(byId("hits"), "a");
}

// Where an expression occurs in texts, null where it doesn't; it runs in a worker.
function findIn({ data: [source, texts] }) {
  const places = (text) => [...text.matchAll(new RegExp(source, "giu"))].map(({ 0: { length }, index: at }) => [at, at + length]);
  postMessage(texts.map((text) => [places(text)].find(({ length }) => length) ?? null));
}

// Some expressions take for ever: their worker is ended then, and null is told.
function findAside(source, texts) {
  const worker = (sought.worker ??= new Worker(URL.createObjectURL(new Blob([`onmessage = ${findIn}`]))));
  return new Promise((done) => {
    const late = setTimeout(() => done(worker.terminate() ?? null), 2000);
    worker.onmessage = ({ data }) => done(data, clearTimeout(late));
    worker.postMessage([source, texts]);
  });
}

// What the form asks for: expressions that must all match, one that marks, filters; or why not.
function askedFor() {
  const at = Object.fromEntries(new FormData(byId("seek")));
  const words = (at.q.match(/"[^"]+"|\S+/g) ?? []).map((word) => word.replace(/^"(.+)"$/, "$1").replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const sources = at.re ? [at.q].filter(Boolean) : words;
  const chosen = (names) => Object.keys(names).filter((name) => at[name]);
  const asked = { at, selects: chosen(FINDS.selects), boxes: chosen(FINDS.boxes), from: Number(at.from) || 0, to: Number(at.to) || Infinity };
  if (![...sources, ...asked.selects, ...asked.boxes, at.c, at.from, at.to].some(Boolean)) return { at, why: "Type words, or choose filters alone: they list all that was said where they hold." };
  try {
    return { ...asked, patterns: sources.map((source) => new RegExp(source, "iu")), mark: sources.length ? new RegExp(sources.join("|"), "giu") : null };
  } catch (error) {
    return { at, why: `${error.message}: nothing was searched.` };
  }
}

const wanted = (turn, { at, from, to, selects, boxes }) => (at.thought || !turn.thought) && turn.round >= from && turn.round <= to &&
  selects.every((name) => (turn[name] ?? turn.of[name]) === at[name]) && boxes.every((name) => turn[name] || turn.of[name]);

async function seek() {
  const asked = askedFor();
  const link = new URLSearchParams(Object.entries(asked.at).filter(([, value]) => value));
  Object.assign(sought, { asked, link: `${link}`, busy: !asked.why, hits: [], firsts: new Map(), searched: new Set(), places: new Map(), listed: 0, told: 0, opened: null });
  const run = ++sought.run;
  sought.worker = sought.worker?.terminate() ?? null;
  setLink(link, "search");
  for (const id of ["hits", "seek-tables"]) show(byId(id));
  byId("seek-more").hidden = true;
  if (asked.why) return void show(byId("seek-told"), asked.why);
  performance.mark("sought");
  const numbers = [...index.conditions.keys()].filter((number) => !asked.at.c || index.conditions[number].id === asked.at.c);
  for (const number of numbers) {
    tellHits(null); // a server may take a while for the next
    const spoken = await spokenIn(number).catch((error) => sought.run === run && tellHits(`The search stopped, because ${error.message}: `));
    if (sought.run !== run) return;
    const turns = spoken.filter((turn) => wanted(turn, asked));
    const { places } = sought; // a text that many said is searched once
    const texts = asked.at.re && asked.at.q ? [...new Set(turns.map(({ text }) => text))].filter((text) => !places.has(text)) : [];
    let [began, some] = [performance.now(), 20];
    for (const turn of turns) {
      if (texts.length && !places.has(turn.text)) {
        const [asking, sent] = [performance.now(), texts.splice(0, some)]; // in the order of the turns
        const found = await findAside(asked.at.q, sent);
        if (sought.run !== run) return;
        if (!found) return tellHits("The search stopped, because this expression takes too long: ");
        sent.forEach((text, k) => places.set(text, found[k]));
        some = Math.max(1, Math.round((10 * SLICE * sent.length) / (performance.now() - asking + 1))); // a tenth of a second
      }
      if (performance.now() - began > SLICE) {
        tellHits(null);
        await new Promise((done) => setTimeout(done));
        began = performance.now();
      }
      if (sought.run !== run) return;
      sought.searched.add(turn.of);
      if (!places.has(turn.text)) places.set(turn.text, asked.patterns.every((pattern) => pattern.test(turn.text)));
      if (!places.get(turn.text)) continue;
      sought.hits.push(turn);
      if (!sought.firsts.has(turn.of)) sought.firsts.set(turn.of, { turn, said: new Set() });
      sought.firsts.get(turn.of).said.add(turn.who);
    }
  }
  tellHits("");
  await tellTables(numbers);
}

// Counts and hits so far, at most twice a second once some are listed; `ended` ends the search.
function tellHits(ended) {
  if (ended === null && sought.listed && performance.now() - sought.told < 500) return;
  Object.assign(sought, { told: performance.now(), busy: ended === null, run: sought.run + Boolean(ended) });
  const found = `${plural(sought.hits.length, "hit")} in ${sought.firsts.size} of ${plural(sought.searched.size, FINDS.unit)} searched`;
  show(byId("seek-told"), `${ended ?? ""}${found}${sought.busy ? " so far" : ""}.`);
  listHits(Math.max(LISTED, sought.listed));
}

function listHits(most) {
  const shown = sought.asked.at.show ? [...sought.firsts.values()].map(({ turn }) => turn) : sought.hits;
  const more = shown.slice(sought.listed, most).map(hitItem);
  if (more.length && !sought.listed) performance.mark("hits");
  byId("hits").append(...more);
  sought.listed += more.length;
  byId("seek-more").hidden = shown.length <= sought.listed;
  show(byId("seek-more"), `List ${Math.min(LISTED, shown.length - sought.listed)} more of ${shown.length}`);
  reachable([...byId("hits").querySelectorAll("a")], (link) => link.tabIndex === 0);
}

function hitItem(turn) {
  const { of, kind, thought } = turn;
  const link = new URLSearchParams({ c: of.entry.id, t: turn.round, a: of.n, s: `${turn.place}${thought ? ".thought" : ""}` });
  const words = el("p", { class: "words", dir: "auto" }, markedIn(turn.text, 110));
  const head = el("p", {}, said("b", {}, `#${of.n} · round ${turn.round} · ${turn.who}`), said("span", {}, ` · ${of.told} · ${kind} · ${turn.model}`), " ", flagged(FINDS.flags(turn)), said("span", { class: "quiet" }, ` · ${of.entry.name}`));
  return el("li", {}, el("a", { href: `#${link}`, tabindex: -1 }, head, thought ? null : words), thought ? folded(`the passage of the ${kind}`, words) : null);
}

// A text, or the passage around its first match, with what matches in marks.
function markedIn(text, around = Infinity) {
  const { asked, places } = sought;
  const told = asked?.at.re ? places.get(text) : asked?.mark && [...text.matchAll(asked.mark)].map(({ 0: words, index: at }) => [at, at + words.length]);
  const found = Array.isArray(told) ? told.filter(([start, end]) => end > start) : [];
  const at = found[0]?.[0] ?? 0;
  let here = at > around ? at - around + text.slice(at - around, at).search(/\s/) + 1 : 0;
  const room = Math.min(text.length, at + 2 * around);
  const to = room + text.slice(room, room + 30).search(/\s|$/); // the end of a word
  const pieces = [here ? "… " : ""];
  for (const [start, last] of found.filter(([start]) => start < to)) {
    const end = Math.min(last, to);
    pieces.push(text.slice(here, start), el("mark", { class: "first" }, text.slice(start, end)));
    here = end;
  }
  return [...pieces, text.slice(here, to), to < text.length ? " …" : ""];
}

// By condition, and for all if there are several: who was the first to say it in how many replicates,
// said it at all in how many, of how many where it was said.
function firstRows() {
  const [groups, all] = [new Map(), { name: "all conditions" }];
  for (const [of, { turn, said: speakers }] of sought.firsts)
    for (const entry of [all, of.entry]) {
      const group = groups.get(entry) ?? groups.set(entry, { where: 0, seats: new Map() }).get(entry);
      group.where++;
      for (const who of speakers) {
        const [first, ever] = group.seats.get(who) ?? [0, 0];
        group.seats.set(who, [first + (turn.who === who), ever + 1]);
      }
    }
  if (groups.size < 3) groups.delete(all);
  return [...groups].flatMap(([{ name }, { where, seats }]) => [...seats].sort((a, b) => b[1][0] - a[1][0]).map(([who, counts]) => [name, who, ...counts, where]));
}

function tableOf(name, title, told, head, rows, cell = (value) => value) {
  const lines = rows.map((row) => el("tr", {}, row.map((value, k) => said("td", {}, cell(value, k, row)))));
  return [el("h3", {}, title), el("p", { class: "told" }, told), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, table(head, lines)), csvButton(name, () => [head, ...rows])];
}

async function tellTables(numbers) {
  const { asked: { at }, hits, firsts, run } = sought;
  const flips = at.flipped ? await FINDS.flips(numbers) : null;
  if (sought.run !== run) return;
  const first = at.show && firsts.size ? tableOf("first-said", "Who said it first", `In how many ${FINDS.unit}s one was the first to say it, said it at all, and anybody said it.`, ["condition", "seat", "first to say it", "said it", "said by anybody"], firstRows()) : null;
  const head = ["condition", "identity", FINDS.unit, "outcome", "round", "seat", "model", "kind", "flags", "text"];
  const rows = () => hits.map((turn) => [turn.of.entry.name, turn.of.entry.id, turn.of.n, turn.of.told, turn.round, turn.who, turn.model, turn.kind, FINDS.flags(turn).join("; "), turn.text]);
  show(byId("seek-tables"), flips, first, hits.length ? el("p", {}, "Arrow keys move through the hits, Enter opens one. All of them with their texts: ", csvButton("hits", () => [head, ...rows()])) : null);
  performance.mark("searched");
}

// In the transcripts: marks the turn that a hit has opened.
function markHit(turn) {
  const element = byId("talk").querySelector(`[data-turn="${CSS.escape(turn.replace(/\.thought$/, ""))}"]`);
  if (!element) return;
  const back = sought.link && el("button", { type: "button", onclick: () => showView("search") }, "Back to the hits");
  fill(element, { class: `${element.className} found`, tabindex: -1 }, []);
  fill(element.querySelector("td:last-child") ?? element, {}, [el("p", { class: "tools" }, el("b", {}, "▸ The hit that you opened"), back)]);
  if (turn.endsWith(".thought")) for (const details of element.querySelectorAll("details")) details.open = true;
  element.scrollIntoView({ block: "center" });
  element.focus({ preventScroll: true });
}

// Back from a hit the page still has its hits; else it searches what the address asks for.
views.set("search", async (parts) => {
  const form = byId("seek");
  if (sought.link === null) makeSearch(form);
  choices(form.elements.c, [["", "all"], ...index.conditions.map(({ id, name }) => [id, name])], form.elements.c.value);
  parts.delete("v");
  if (sought.link !== null && (!parts.size || `${parts}` === sought.link)) {
    setLink(new URLSearchParams(sought.link), "search");
    return (sought.opened ?? form.elements.q).focus();
  }
  for (const field of [...form.elements].filter(({ name }) => name)) {
    const value = parts.get(field.name) ?? "";
    if (field.type === "checkbox") field.checked = Boolean(value);
    else if (Object.hasOwn(FINDS.selects, field.name)) offer(field.name, value ? [value] : [], value);
    else field.value = value;
  }
  form.elements.q.focus();
  await seek();
  await warmUp().catch(() => null); // the search has said why
});
