// What stands for a decision: a colour and a shape, so that colour alone tells nothing.

const SHAPES = [
  "M5,0A5,5 0 1 1 -5,0A5,5 0 1 1 5,0Z",
  "M-4.5,-4.5H4.5V4.5H-4.5Z",
  "M0,-6L5.5,4.2H-5.5Z",
  "M0,-6.2L6.2,0L0,6.2L-6.2,0Z",
  "M0,6L5.5,-4.2H-5.5Z",
  "M-1.8,-5.5H1.8V-1.8H5.5V1.8H1.8V5.5H-1.8V1.8H-5.5V-1.8H-1.8Z",
  "M0,-6L5.7,-1.9L3.5,4.9H-3.5L-5.7,-1.9Z",
];
const CROSS = "M-4,-4L4,4M-4,4L4,-4";
const RING = "M4.2,0A4.2,4.2 0 1 1 -4.2,0A4.2,4.2 0 1 1 4.2,0Z";
const DASHES = ["", "7 3", "2 3", "7 3 2 3", "12 3", "4 2", "1 2"];

// The class and the shape of a decision, and the dashes of its lines; beyond seven options colours come again in other shapes.
function markOf(decision, options) {
  const place = options.findIndex(([label]) => label === decision);
  if (place >= 0) {
    const turn = Math.floor(place / SHAPES.length);
    return { kind: `c${place % 7}`, shape: SHAPES[(place + turn) % SHAPES.length], dash: DASHES[place % DASHES.length] };
  }
  return { dash: "1 4", ...(decision === "NONE" ? { kind: "none", shape: CROSS } : { kind: "open", shape: RING }) };
}

function symbol(decision, options) {
  const { kind, shape } = markOf(decision, options);
  return glyph("symbol", "-7 -7 14 14", svg("path", { d: shape, class: `mark ${kind}` }));
}

function decided(decision, options) {
  if (decision === "NONE") return "no majority";
  const option = options.find(([label]) => label === decision);
  return option ? (option[1] ? `${option[0]} ${option[1]}` : option[0]) : "undecided";
}

// An option's letter and name in a drawing, cut where there is no room.
const optionName = (label, name, most, place) => svg("text", { class: "corner", ...place },
  svg("tspan", { class: "letter" }, label), ` ${name.length > most ? `${name.slice(0, most - 1)}…` : name}`, svg("title", {}, `${label} ${name}`));
