// The views of the page, one of which is seen at a time, and what is seen, in the address, so that a
// finding can be shared; all views but the first name themselves there.

const views = new Map(); // by name: a function that shows what the address asks for
let view = "replicates";
let followed = null; // the link that the page shows, until somebody does something

// Shows a view; `parts` is what the address asks for, empty where somebody chose the view itself.
function showView(name, parts = new URLSearchParams()) {
  view = name;
  for (const button of byId("views").children) button.setAttribute("aria-pressed", button.dataset.view === name);
  for (const each of document.querySelectorAll("[data-of]")) each.hidden = each.dataset.of !== name;
  views.get(name)(parts);
}

// Shows a view that somebody chose: Back returns to the one before.
function chooseView(name) {
  if (name !== view) setHistory("pushState", location.hash || "#");
  showView(name);
}

// Opens the view that the address names, and follows the buttons and later addresses.
async function openStudy() {
  const usual = live() ? "watch" : "replicates";
  const asked = () => linkParts().get("v") ?? (linkParts().has("c") ? "replicates" : usual);
  const named = () => (views.has(asked()) ? asked() : usual);
  views.set("replicates", () => state.entry && writeLink());
  byId("views").addEventListener("click", (event) => event.target.dataset.view && chooseView(event.target.dataset.view));
  window.addEventListener("hashchange", async () => {
    if (location.hash === state.link) return;
    const link = linkParts();
    if (named() !== "replicates") return showView(named(), (followed = link));
    const asked = await readLink();
    if (!asked && !link.has("c")) return; // a link within the page
    showView("replicates"); // it writes what was seen there before
    followed = link;
    openReplicates(asked);
  });
  followed = linkParts();
  for (const name of ["pointerdown", "keydown", "input"]) document.addEventListener(name, () => (followed = null), true);
  showView(named(), linkParts());
  listConditions();
  rove(byId("list"), "tbody tr");
  byId("folded").addEventListener("change", (event) => byId("talk").classList.toggle("folded", event.target.checked));
  listenToBar();
  listen();
  await openReplicates(await readLink());
}

function setLink(parts, of = "replicates") {
  if (view !== of) return; // what is drawn behind another view
  if (of !== "replicates") parts.set("v", of);
  byId("lost").hidden = ["c", "d", "a", "b", "t"].every((name) => !followed?.get(name) || followed.get(name) === parts.get(name) || Number(followed.get(name)) === Number(parts.get(name)));
  setHistory("replaceState", (state.link = `#${parts}`));
}

function setHistory(how, link) {
  try {
    history[how](null, "", link);
  } catch {
    location.hash = link; // within another page it may be forbidden
  }
}

const linkParts = () => new URLSearchParams(location.hash.slice(1));

// The place of a condition; -1 where none is known here. It moves where an index is read again while a
// sweep runs; identities stay.
const numberOf = (id) => index.conditions.findIndex((condition) => condition.id === id);
const linkedCondition = (parts, name) => numberOf(parts.get(name));
const linkedWhole = (parts, name) => (/^\d{1,9}$/.test(parts.get(name) ?? "") ? Number(parts.get(name)) : null);
const known = (value, pairs, otherwise) => (pairs.some(([name]) => name === value) ? value : otherwise);
