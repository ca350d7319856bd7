// Data blocks: base64 of gzip of JSON, unpacked when they are wanted, and kept.

const unpacked = new Map();

function block(id) {
  if (!unpacked.has(id)) unpacked.set(id, unpack(byId(id).textContent));
  return unpacked.get(id);
}

async function unpack(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Figures with their trajectories as points: path[t] is a share for each option.
async function figures(number) {
  const found = await block(`figures-${number}`);
  if (found.ready) return found;
  const width = found.options.length;
  for (const replicate of found.replicates) {
    const flat = replicate.path;
    replicate.points = [];
    for (let i = 0; i + width <= flat.length; i += width)
      replicate.points.push(flat.slice(i, i + width).map((whole) => whole / 1e6));
  }
  found.last = Math.max(1, found.D.length, ...found.replicates.map((r) => r.points.length));
  found.ready = true;
  return found;
}
