// Data blocks: base64 of gzip of JSON in the page, or what its server answers, read when they are
// wanted, and kept.

let index = null; // what the whole page says, once it is read
const unpacked = new Map();

function block(id) {
  if (!unpacked.has(id)) {
    const read = live() ? request(id) : unpack(byId(id).textContent);
    unpacked.set(id, read);
    read.catch(() => unpacked.get(id) === read && unpacked.delete(id)); // to be asked for again
  }
  return unpacked.get(id);
}

// Whether a server stands behind the page.
const live = () => document.documentElement.hasAttribute("data-live");

async function request(id) {
  const place = location.origin + location.pathname.replace(/\/?$/, "/data/"); // also of a link without its last slash
  const answer = await fetch(`${place}${id}?index=${index?.revision ?? ""}`).catch(() => Promise.reject(new Error("the page's server doesn't answer")));
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Figures, made ready by the scripts of their kind when they are first wanted.
async function figures(number) {
  const entry = index.conditions[number]; // its number may be another's later
  const found = await block(`figures-${number}`);
  if (!found.ready) prepare(found);
  found.ready = true;
  Object.assign(entry, found.counts); // a server counts what is listed with them
  return found;
}

// Opens the page: what `begin` does, or why that couldn't be done.
async function openPage(begin) {
  try {
    index = await block("index");
    aboutStudy();
    await begin();
    byId("frame").setAttribute("aria-busy", "false");
    performance.mark("ready");
  } catch (error) {
    byId("trouble").hidden = false;
    show(byId("trouble"), `This page couldn't be drawn: ${error.message}. It needs a browser of 2023 or later.`);
    throw error;
  }
}
