// Numbers as files of comma-separated values.

// A button that downloads the rows that `rows` gives when it is pressed, the header first.
function csvButton(name, rows) {
  const download = () => {
    const url = URL.createObjectURL(new Blob(rows().map((row) => `${row.map(csvCell).join(",")}\r\n`), { type: "text/csv" }));
    el("a", { href: url, download: `${name}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
  return el("button", { type: "button", class: "csv", onclick: download }, "Download as CSV");
}

// Numbers stay numbers. A text that a spreadsheet would take for a formula is quoted as text.
function csvCell(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = String(value ?? "").replace(/^[=+\-@\t\r](?=.)/s, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
