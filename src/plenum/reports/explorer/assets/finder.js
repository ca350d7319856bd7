// The page that finds conditions: words, levels of factors and an order; a page of rows at a time.

const ROWS = 50;
const MOST_LEVELS = 1000; // in a list to choose from; the field finds the others
const state = { link: "", found: [], page: 0 };

// What conditions can be ordered by: a name, and the value; those without one come last.
function orders() {
  const numbers = [...new Set(index.conditions.flatMap((c) => Object.keys(c.estimates ?? {})))];
  const width = (c) => (Number.isFinite(c.low) ? c.high - c.low : null);
  const known = [["estimate", index.axis, (c) => c.lambda], ["width", "width of its interval", width]];
  known.push(...numbers.map((name, k) => [`e${k}`, name, (c) => c.estimates?.[name]]));
  known.push(["missing", "failed and pending replicates", (c) => c.failed + c.pending]);
  return known;
}

function compared(value, sign) {
  const key = (c) => value(c) ?? null;
  return (a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (x - y);
  };
}

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
    const select = el("select", { "data-factor": factor });
    choices(select, [["", "any"], ...levels.map(([level, count]) => [`=${level}`, `${level} (${count.toLocaleString("en")})`])], "");
    return [el("label", {}, `${factor} `, select)];
  });
  show(byId("levels"), selects);
  const both = orders().flatMap(([name, told]) => [[`${name} down`, `${told}, largest first`], [`${name} up`, `${told}, smallest first`]]);
  choices(byId("order"), [["", "as they were run"], ...both], "");
}

// #q=words&roles==on&order=estimate+down&page=2
function writeLink() {
  const parts = new URLSearchParams();
  if (byId("filter").value) parts.set("q", byId("filter").value);
  for (const select of byId("levels").querySelectorAll("select")) if (select.value) parts.set(`f.${select.dataset.factor}`, select.value.slice(1));
  if (byId("order").value) parts.set("order", byId("order").value);
  if (state.page) parts.set("page", state.page + 1);
  setLink(parts);
}

function readLink() {
  const parts = linkParts();
  const chosen = (select, value) => {
    select.value = value;
    if (select.selectedIndex < 0) select.value = "";
  };
  byId("filter").value = parts.get("q") ?? "";
  for (const select of byId("levels").querySelectorAll("select"))
    chosen(select, parts.has(`f.${select.dataset.factor}`) ? `=${parts.get(`f.${select.dataset.factor}`)}` : "");
  chosen(byId("order"), parts.get("order") ?? "");
  state.page = (linkedWhole(parts, "page") ?? 1) - 1;
}

function listenToSearch() {
  const again = () => {
    state.page = 0;
    find();
    drawRows();
  };
  const turn = (step) => () => {
    state.page += step;
    drawRows();
  };
  byId("filter").addEventListener("input", again);
  byId("search").addEventListener("change", again);
  byId("search").addEventListener("submit", (event) => event.preventDefault());
  byId("before").addEventListener("click", turn(-1));
  byId("after").addEventListener("click", turn(1));
  byId("clear").addEventListener("click", () => {
    byId("search").reset();
    again();
  });
  window.addEventListener("hashchange", () => {
    if (location.hash === state.link) return;
    readLink();
    find();
    drawRows();
  });
}

openPage(async () => {
  listControls();
  readLink();
  listenToSearch();
  find();
  drawRows();
});
