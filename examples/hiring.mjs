// A hiring committee in JavaScript, as a command; its last line is the decision.
//
//     python scripts/audit.py 'committee.command="node examples/hiring.mjs {case}"' case=examples/cases
import { readFileSync } from "node:fs";

const { text, options } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { OPENAI_BASE_URL, OPENAI_API_KEY, PLENUM_RUN_URL, MODEL = "gpt-4o-mini" } = process.env;
const seats = {
  team_lead: "You lead the team that the new colleague joins. You want work done well at once.",
  personnel: "You answer for personnel. You want people who stay and get on with others.",
  treasurer: "You answer for the money. You want what somebody costs to be worth it, all told.",
};
const rule = "Argue in three sentences. End with the line `VOTE: <label>`, the label of an option.";

async function post(url, body, headers = {}) {
  const type = { "Content-Type": "application/json", Authorization: `Bearer ${OPENAI_API_KEY}` };
  const request = { method: "POST", headers: { ...type, ...headers }, body: JSON.stringify(body) };
  const answer = await fetch(url, request);
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function speak([seat, role], task) {
  const messages = [
    { role: "system", content: `${role} ${rule}` },
    { role: "user", content: task },
  ];
  const body = { model: MODEL, temperature: 0.7, messages };
  const reply = await post(`${OPENAI_BASE_URL}/chat/completions`, body, { "X-Plenum-Seat": seat });
  return reply.choices[0].message.content;
}

const lines = Object.entries(options).map(([label, name]) => `${label}: ${name}`);
let task = [text, "", "Options:", ...lines].join("\n");
const counts = {};
for (const round of [1, 2]) {
  const texts = await Promise.all(Object.entries(seats).map((seat) => speak(seat, task)));
  for (const [place, seat] of Object.keys(seats).entries()) {
    task += `\n\n${seat}: ${texts[place]}`;
    await post(`${PLENUM_RUN_URL}/say`, { round, seat, text: texts[place] });
    const label = [...texts[place].matchAll(/VOTE:\W*(\w+)/g)].pop()?.[1];
    if (round === 2 && label in options) counts[label] = (counts[label] ?? 0) + 1;
  }
}
const [winner] = Object.entries(counts).sort((a, b) => b[1] - a[1]);
console.log(winner?.[0] ?? "none");
