import { expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

async function newDrive(key: string): Promise<string> {
  return (await call("POST", "/v1/drives", { key, json: { name: "Memory" } })).body.id;
}
const readNotes = async (drive: string, key: string, path = "/memory.md") =>
  (await call("GET", `/v1/drives/${drive}/files${path}`, { key })).text;
const remember = (args: object) => ({ calls: [{ name: "update_memory", args: args as Record<string, unknown> }] });
const asked = () => JSON.stringify(platform.llm.requests);

test("notes of one run are offered to the next, and the owner can edit the file", async () => {
  const { key } = await platform.newUser();
  const drive = await newDrive(key);
  const agent = await platform.makeAgent({ memory: { drive } }, key);
  platform.llm.script = inTurn(
    remember({ new: "The user likes tea." }),
    remember({ new: "coffee", old: "tea" }),
    remember({ new: "x", old: "cocoa" }),
    remember({ new: "Lives in Oslo." }),
    { text: "done" },
  );
  const first = await platform.run(agent, {}, { key });
  expect(first.body.status, first.text).toBe("done");
  expect(asked()).not.toContain("notes from earlier runs");
  expect(toolResults(platform.llm.requests.at(-1))).toEqual([
    "The notes have 20 bytes now.",
    "The notes have 23 bytes now.",
    expect.stringContaining("The notes do not contain this text. They are:\nThe user likes coffee."),
    "The notes have 38 bytes now.",
  ]);
  expect(await readNotes(drive, key)).toBe("The user likes coffee.\nLives in Oslo.\n");

  const edited = await fetch(`${platform.gantry.url}/v1/drives/${drive}/files/memory.md`, {
    method: "PUT",
    headers: { "x-api-key": key, "content-type": "text/markdown" },
    body: "The user likes milk.\n",
  });
  expect(edited.status).toBe(200);
  platform.llm.requests.length = 0;
  platform.llm.script = inTurn(remember({ new: "", old: "The user likes milk.\n" }), { text: "done" });
  expect((await platform.run(agent, {}, { key })).body.status).toBe("done");
  for (const request of platform.llm.requests) {
    expect(JSON.stringify(request)).toContain(
      "Your notes from earlier runs, which may be out of date:\\nThe user likes milk.",
    );
  }
  expect(await readNotes(drive, key)).toBe("");
});

test("other users' runs, and runs under their agents, have neither notes nor the tool; sub-agents have their own", async () => {
  const owner = await platform.newUser();
  const other = await platform.newUser();
  const drive = await newDrive(owner.key);
  await call("POST", `/v1/drives/${drive}/files`, {
    key: owner.key,
    form: { path: "/memory.md", file: new Blob(["SECRET NOTE"]) },
  });
  const agent = await platform.makeAgent({ memory: { drive }, visibility: "public" }, owner.key);
  const theirs = await platform.makeAgent(
    { tools: [{ type: "agent", agent_id: agent, name: "helper" }], visibility: "public" },
    other.key,
  );
  const own = await platform.makeAgent({ tools: [{ type: "agent", agent_id: agent, name: "helper" }] }, owner.key);
  const askHelper = () => inTurn({ calls: [{ name: "helper", args: {} }] }, { text: "helped" }, { text: "done" });

  for (const [id, key, script] of [
    [agent, other.key, inTurn({ text: "done" })],
    [theirs, owner.key, askHelper()],
    [theirs, other.key, askHelper()],
  ] as const) {
    platform.llm.requests.length = 0;
    platform.llm.script = script;
    expect((await platform.run(id, {}, { key })).body.status).toBe("done");
    expect(asked()).not.toMatch(/SECRET NOTE|update_memory/);
  }
  platform.llm.requests.length = 0;
  platform.llm.script = askHelper();
  expect((await platform.run(own, {}, { key: owner.key })).body.status).toBe("done");
  const [parent, child] = platform.llm.requests.map((request) => JSON.stringify(request));
  expect(parent).not.toMatch(/SECRET NOTE|update_memory/);
  expect(child).toMatch(/SECRET NOTE/);
  expect(child).toMatch(/update_memory/);
});

test("a key limited to models has no memory, and reads neither the notes nor how the agent works", async () => {
  const { key } = await platform.newUser();
  const drive = await newDrive(key);
  await call("POST", `/v1/drives/${drive}/files`, {
    key,
    form: { path: "/memory.md", file: new Blob(["SECRET NOTE"]) },
  });
  const tools = ["drive_read", { type: "tool", id: "http_request", arguments: { url: "http://SECRET.test/" } }];
  const goal = "SECRET goal.";
  const instructions = { tool_calling: "SECRET rule", formatting: "SECRET format" };
  const agent = await platform.makeAgent({ goal, instructions, tools, drives: [drive], memory: { drive } }, key);
  const app = (await call("POST", "/api/v2/keys", { key, json: { models: ["admin/llm"] } })).body.key;
  const script = () =>
    inTurn(
      { calls: [{ name: "drive_read", args: { path: "/memory.md" } }] },
      { calls: [{ name: "http_request", args: {} }] },
      { text: "The draft follows SECRET rule." },
      { text: "the answer" },
    );
  const seenBy = async (id: string, reader: string) => {
    const seen = await call("GET", `/v1/runs/${id}/trace`, { key: reader });
    const details = seen.body.steps.map((step: { id: string }) =>
      call("GET", `/v1/runs/${id}/trace/${step.id}`, { key: reader }),
    );
    const texts = (await Promise.all(details)).map(({ text }) => text);
    return JSON.stringify([seen.text, texts, await platform.events(id, reader)]);
  };
  platform.llm.script = script();
  const { body } = await platform.run(agent, {}, { key: app });
  expect(body, JSON.stringify(body)).toMatchObject({ status: "done", output: { text: "the answer" } });
  expect(asked()).not.toMatch(/SECRET NOTE|update_memory/);
  expect(toolResults(platform.llm.requests.at(-1))[0]).toBe("File not found");
  expect(await seenBy(body.id, app)).not.toContain("SECRET");
  expect(await seenBy(body.id, key)).toContain("SECRET goal");

  platform.llm.requests.length = 0;
  platform.llm.script = script();
  const own = await platform.run(agent, {}, { key });
  expect(asked()).toContain("SECRET NOTE");
  expect(await seenBy(own.body.id, key)).toContain("SECRET NOTE");
});

test("a run keeps the notes that it started with when it continues later, and its trace shows them", async () => {
  const { key } = await platform.newUser();
  const drive = await newDrive(key);
  const tools = [{ type: "tool", id: "update_memory", confirm: "always" }];
  const agent = await platform.makeAgent({ memory: { drive }, tools }, key);
  const put = (content: string) =>
    call("POST", `/v1/drives/${drive}/files`, { key, form: { path: "/memory.md", file: new Blob([content]) } });
  await put("The first note.");
  platform.llm.script = inTurn(remember({ new: "The second note." }), { text: "done" });
  const id = await platform.start(agent, {}, { key });
  await waitFor("the question", async () => (await platform.read(id, key)).phase === "awaiting_confirmation");
  expect((await call("DELETE", `/v1/drives/${drive}/files/memory.md`, { key })).status).toBe(204);
  await put("Other notes.");
  const [question] = (await call("GET", `/v1/runs/${id}/confirmations`, { key })).body.confirmations;
  await call("POST", `/v1/runs/${id}/confirmations/${question.id}`, { key, json: { approve: true } });
  expect((await platform.ended(id, key)).status).toBe("done");
  expect(platform.llm.requests).toHaveLength(2);
  for (const request of platform.llm.requests) expect(JSON.stringify(request)).toMatch(/The first note\./);
  expect(asked()).not.toContain("Other notes.");
  expect(await readNotes(drive, key)).toBe("Other notes.\nThe second note.\n");

  const { steps } = (await call("GET", `/v1/runs/${id}/trace`, { key })).body;
  const model = steps.find(({ kind }: { kind: string }) => kind === "model");
  expect((await call("GET", `/v1/runs/${id}/trace/${model.id}`, { key })).text).toContain("The first note.");
});

test("notes of runs at the same time are all kept", async () => {
  const { key } = await platform.newUser();
  const drive = await newDrive(key);
  const agent = await platform.makeAgent({ memory: { drive, path: "/notes/own.md" }, goal: "Note {{n}}." }, key);
  platform.llm.script = (request) => {
    const n = /Note (\d+)\./.exec(JSON.stringify(request))?.[1];
    return toolResults(request).length === 0 ? remember({ new: `note ${n}` }) : { text: "done" };
  };
  const numbers = Array.from({ length: 8 }, (_, n) => n);
  const runs = await Promise.all(numbers.map((n) => platform.start(agent, { input: { n } }, { key })));
  for (const id of runs) expect((await platform.ended(id, key)).status).toBe("done");
  const lines = (await readNotes(drive, key, "/notes/own.md")).trim().split("\n").sort();
  expect(lines).toEqual(numbers.map((n) => `note ${n}`));
});

test("long notes are cut with a mark, and cannot grow without end", async () => {
  const { key } = await platform.newUser();
  const drive = await newDrive(key);
  const file = new Blob([`${"n".repeat(16_383)}ü and the end\n${"m".repeat(45_000)}`]);
  await call("POST", `/v1/drives/${drive}/files`, { key, form: { path: "/memory.md", file } });
  const agent = await platform.makeAgent({ memory: { drive }, context_compression: false }, key);
  platform.llm.script = inTurn(remember({ new: "x".repeat(10_000) }), { text: "done" });
  expect((await platform.run(agent, {}, { key })).body.status).toBe("done");
  expect(asked()).toContain("nnn\\n[cut: the notes are longer than 16 KB]");
  expect(asked()).not.toMatch(/and the end|\uFFFD/);
  expect(toolResults(platform.llm.requests.at(-1))).toEqual([expect.stringContaining("at most 64 KB")]);
});

test("a drive that is a memory is not deleted unasked; without it, runs continue and the agent has a warning", async () => {
  const { key } = await platform.newUser();
  const drive = await newDrive(key);
  const agent = await platform.makeAgent({ name: "Rememberer", goal: "Remember.", memory: { drive } }, key);
  const refused = await call("DELETE", `/v1/drives/${drive}`, { key });
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("Rememberer")]);
  expect((await call("DELETE", `/v1/drives/${drive}?force=true`, { key })).status).toBe(204);
  const { warnings } = (await call("GET", `/v1/agents/${agent}`, { key })).body;
  expect(warnings).toEqual([{ field: "memory", message: `Drive ${drive} does not exist` }]);
  platform.llm.script = inTurn(remember({ new: "a note" }), { text: "done" });
  const { body } = await platform.run(agent, {}, { key });
  expect(body.status, JSON.stringify(body)).toBe("done");
  expect(toolResults(platform.llm.requests.at(-1))).toEqual(["Drive not found"]);

  const json = { name: "N", goal: "g", tools: ["update_memory"], model: "admin/llm" };
  const bare = await call("POST", "/v1/agents", { key, json });
  expect(bare.body.warnings).toEqual([{ field: "tools", message: "The agent has update_memory, but no memory" }]);
});
