// What is seen, in the address: #c=identity&t=7&a=3&b=11, so that a finding can be shared.

function writeLink() {
  const { entry, round, pair, view, zoom, f } = state;
  const parts = new URLSearchParams({ c: entry.id, t: round });
  if (pair.length > 0) parts.set("a", pair[0]);
  if (pair.length > 1) parts.set("b", pair[1]);
  if (view !== usualView(f)) parts.set("view", view);
  if (zoom !== "all") parts.set("zoom", zoom);
  state.link = `#${parts}`;
  try {
    history.replaceState(null, "", state.link);
  } catch {
    location.hash = state.link;
  }
}

// What the address asks for; null where it says nothing that is known here.
function readLink() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const number = index.conditions.findIndex((condition) => condition.id === parts.get("c"));
  if (number < 0) return null;
  const whole = (name) => (/^\d{1,9}$/.test(parts.get(name) ?? "") ? Number(parts.get(name)) : null);
  const pair = [whole("a"), whole("b")].filter((n) => n !== null);
  return { number, round: whole("t"), pair, view: parts.get("view"), zoom: parts.get("zoom") };
}

const known = (value, pairs, otherwise) => (pairs.some(([name]) => name === value) ? value : otherwise);
