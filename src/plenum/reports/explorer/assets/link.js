// What is seen, in the address, so that a finding can be shared.

function setLink(parts, of = "replicates") {
  if (view !== of) return; // what is drawn behind another view
  if (of !== "replicates") parts.set("v", of);
  state.link = `#${parts}`;
  try {
    history.replaceState(null, "", state.link);
  } catch {
    location.hash = state.link;
  }
}

const linkParts = () => new URLSearchParams(location.hash.slice(1));

// The place of the condition that the address names; -1 where it names none that is known here.
const linkedCondition = (parts, name) => index.conditions.findIndex((condition) => condition.id === parts.get(name));

const linkedWhole = (parts, name) => (/^\d{1,9}$/.test(parts.get(name) ?? "") ? Number(parts.get(name)) : null);

const known = (value, pairs, otherwise) => (pairs.some(([name]) => name === value) ? value : otherwise);
