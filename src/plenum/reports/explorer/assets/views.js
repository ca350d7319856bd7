// The views of the page, one of which is seen at a time; all but the first name themselves in the
// address.

const views = new Map(); // by name: a function that shows what the address asks for
let view = "replicates";

// Shows a view; `parts` is what the address asks for, empty where somebody chose the view itself.
function showView(name, parts = new URLSearchParams()) {
  view = name;
  for (const button of byId("views").children) button.setAttribute("aria-pressed", button.dataset.view === name);
  for (const each of document.querySelectorAll("[data-of]")) each.hidden = each.dataset.of !== name;
  views.get(name)(parts);
}

// Opens the view that the address names, and follows the buttons and later addresses.
function openViews(usual = live() ? "watch" : "replicates") {
  const asked = () => linkParts().get("v") ?? (linkParts().has("c") ? "replicates" : usual);
  const named = () => (views.has(asked()) ? asked() : usual);
  byId("views").addEventListener("click", (event) => event.target.dataset.view && showView(event.target.dataset.view));
  window.addEventListener("hashchange", () => location.hash !== state.link && named() !== "replicates" && showView(named(), linkParts()));
  showView(named(), linkParts());
}
