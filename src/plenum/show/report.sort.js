"use strict";
/* Sorts and searches the tables of a page; without it they are complete and in their order. */
for (const figure of document.querySelectorAll("figure.sortable")) {
  const body = figure.querySelector("tbody");
  const rows = [...body.rows];
  const heads = [...figure.querySelectorAll("thead th")];
  const text = (row, column) => row.cells[column].textContent.replace(/\u00a0/g, " ");
  // An interval behind a number is left out: rows are sorted by the number.
  const number = (cell, words = cell.replace(/ \[[^\]]*\]$/, "")) => (
    /^[+\-\u2212]?[\d,]+(\.\d+)?( ?%)?$/.test(words)
    ? Number(words.replace("\u2212", "-").replace(/[,% ]/g, "")) : NaN);

  heads.forEach((head, column) => {
    const button = Object.assign(document.createElement("button"), { type: "button" });
    button.append(...head.childNodes);
    head.append(button);
    const keys = new Map(rows.map((row) => [row, text(row, column)]));
    const numbers = new Map(rows.map((row) => [row, number(keys.get(row))]));
    const numeric = rows.some((row) => !Number.isNaN(numbers.get(row)));
    // Numbers come first with the largest, names with the first of the alphabet.
    const first = numeric ? "descending" : "ascending";
    button.addEventListener("click", () => {
      const sorted = head.getAttribute("aria-sort");
      const next = sorted === null ? first : sorted === "ascending" ? "descending" : "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", next);
      const sign = next === "ascending" ? 1 : -1;
      const compare = (a, b) => {
        if (!numeric) return sign * keys.get(a).localeCompare(keys.get(b), "en", { numeric: true });
        const [x, y] = [numbers.get(a), numbers.get(b)];
        return Number.isNaN(x) - Number.isNaN(y) || sign * (x - y) || 0; // those without one come last
      };
      body.append(...rows.slice().sort(compare));
    });
  });

  const label = Object.assign(document.createElement("label"), { className: "search" });
  const field = Object.assign(document.createElement("input"), { type: "search", autocomplete: "off" });
  const found = document.createElement("output");
  label.append("Search the table ", field, found);
  figure.querySelector(".scroll").before(label);
  const all = new Map(rows.map((row) => [row, row.textContent.replace(/\u00a0/g, " ").toLowerCase()]));
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => all.get(row).includes(word));
    const shown = rows.filter((row) => !row.hidden).length;
    found.textContent = words.length ? ` ${shown} of ${rows.length} lines` : "";
  });
}
