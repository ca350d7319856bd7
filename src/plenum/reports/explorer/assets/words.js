// Texts of both sides, word by word.

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
