// The page that finds conditions: words, levels of factors and an order; a page of rows at a time.

const ROWS = 50;
const MOST_LEVELS = 1000; // in a list to choose from; the field finds the others
const state = { link: "", found: [], page: 0 };

// What conditions can be ordered by: a name, and the value; those without one come last.
function orders() {
  const numbers = [...new Set(index.conditions.flatMap((c) => Object.keys(c.estimates ?? {})))];
  const width = (c) => (Number.isFinite(c.low) ? c.high - c.low : null);
  return [
    ["estimate", index.axis, (c) => c.lambda],
    ["width", "width of its interval", width],
    ...numbers.map((name, k) => [`e${k}`, name, (c) => c.estimates?.[name]]),
    ["missing", "failed and pending replicates", (c) => c.failed + c.pending],
  ];
}

const compared = (value, sign) => (a, b) => {
  const [x, y] = [a, b].map((c) => value(c) ?? null);
  return x === null || y === null ? (x === null) - (y === null) : sign * (x - y);
};

function find() {
  const words = searched(byId("filter").value);
  const levels = [...byId("levels").querySelectorAll("select")].filter((select) => select.value);
  const fits = (c) => levels.every((select) => c.factors[select.dataset.factor] === select.value.slice(1));
  state.found = index.conditions.filter((c) => fits(c) && matches(c, words));
  const [name, sign] = byId("order").value.split(" ");
  const order = orders().find(([known]) => known === name);
  if (order) state.found.sort(compared(order[2], sign === "up" ? 1 : -1));
}

function drawRows() {
  const { found } = state;
  const pages = Math.max(1, Math.ceil(found.length / ROWS));
  state.page = Math.min(Math.max(0, state.page), pages - 1);
  const shown = found.slice(state.page * ROWS, (state.page + 1) * ROWS);
  const range = forestRange(found);
  const ends = range ? `${fixed(range[0], 2)} to ${fixed(range[1], 2)}, dotted: 0` : "";
  const extra = orders().filter(([name]) => /^e\d/.test(name));
  const heads = ["condition", index.axis, ends, "n", ...extra.map(([, name]) => name), "warnings"];
  show(byId("heads-of"), el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head))));
  show(byId("rows"), shown.map((c) => el("tr", {},
    el("th", { scope: "row" }, el("a", { href: `${c.page}#c=${encodeURIComponent(c.id)}` }, said("bdi", {}, c.name))),
    el("td", {}, estimateOf(c)),
    el("td", { class: "line" }, forest(c, range)),
    el("td", {}, realised(c)),
    extra.map(([, , value]) => el("td", {}, brief(value(c)))),
    el("td", { class: "warn" }, c.warnings.map((name) => el("span", { title: index.meanings[name] ?? null }, `${name.replaceAll("_", " ")} `))))));
  const all = index.conditions.length.toLocaleString("en");
  show(byId("count"), found.length === index.conditions.length ? `${all} conditions` : `${found.length.toLocaleString("en")} of ${all} conditions`);
  show(byId("place"), `page ${state.page + 1} of ${pages}`);
  byId("before").disabled = state.page === 0;
  byId("after").disabled = state.page === pages - 1;
  writeLink();
}


function listControls() {
  const selects = index.differing.flatMap((factor) => {
    const levels = [...countsOf([], index.conditions.map(({ factors }) => factors[factor]))];
    if (levels.length > MOST_LEVELS) return [];
    const select = el("select", { name: `f.${factor}`, "data-factor": factor });
    choices(select, [["", "any"], ...levels.map(([level, count]) => [`=${level}`, `${level} (${count.toLocaleString("en")})`])], "");
    return [el("label", {}, `${factor} `, select)];
  });
  show(byId("levels"), selects);
  const both = orders().flatMap(([name, told]) => [[`${name} down`, `${told}, largest first`], [`${name} up`, `${told}, smallest first`]]);
  choices(byId("order"), [["", "as they were run"], ...both], "");
}

// #q=words&f.roles=on&order=estimate+down&page=2
function writeLink() {
  const fields = [...new FormData(byId("search"))].filter(([, value]) => value);
  const parts = new URLSearchParams(fields.map(([name, value]) => [name, name.startsWith("f.") ? value.slice(1) : value]));
  if (state.page) parts.set("page", state.page + 1);
  setLink(parts);
}

// Fills the form with what the address asks for; gives the page.
function readLink() {
  const parts = linkParts();
  for (const field of [...byId("search").elements].filter(({ name }) => name)) {
    field.value = parts.has(field.name) ? `${field.dataset.factor ? "=" : ""}${parts.get(field.name)}` : "";
    if (field.selectedIndex < 0) field.value = ""; // a level or an order that isn't here
  }
  return (linkedWhole(parts, "page") ?? 1) - 1;
}

// Finds what the form asks for, and shows a page of it.
function showPage(page) {
  state.page = page;
  find();
  drawRows();
}

function listenToSearch() {
  byId("search").addEventListener("input", () => showPage(0));
  byId("search").addEventListener("submit", (event) => event.preventDefault());
  byId("before").addEventListener("click", () => showPage(state.page - 1));
  byId("after").addEventListener("click", () => showPage(state.page + 1));
  byId("clear").addEventListener("click", () => {
    byId("search").reset();
    showPage(0);
  });
  window.addEventListener("hashchange", () => location.hash === state.link || showPage(readLink()));
}

openPage(async () => {
  listControls();
  listenToSearch();
  showPage(readLink());
});
