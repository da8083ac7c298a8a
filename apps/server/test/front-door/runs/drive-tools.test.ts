import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { inTurn } from "../../support/scripted-llm.ts";

let t: AgentRuns;
let other: string;

beforeAll(async () => {
  t = await startAgentRuns();
  other = await t.gantry.newUser("other");
});
afterAll(() => t.close());
beforeEach(() => {
  t.llm.script = () => ({ text: "done" });
  t.llm.requests.length = 0;
});

let drives = 0;
async function makeDrive(files: Record<string, string | Blob> = {}, key?: string): Promise<string> {
  const by = key === undefined ? {} : { key };
  const made = await t.gantry.call("POST", "/v1/drives", { json: { name: `Drive ${++drives}` }, ...by });
  expect(made.status, made.text).toBe(201);
  for (const [path, content] of Object.entries(files)) {
    const file = typeof content === "string" ? new Blob([content], { type: "text/plain" }) : content;
    const put = await t.gantry.call("POST", `/v1/drives/${made.body.id}/files`, { form: { path, file }, ...by });
    expect(put.status, put.text).toBe(201);
  }
  return made.body.id;
}

const fileOf = (drive: string, path: string) => t.gantry.call("GET", `/v1/drives/${drive}/files${path}`);
const call = (name: string, args: object) => ({ calls: [{ name, args }] });
const allTools = ["drive_list", "drive_read", "drive_write", "drive_delete"];

describe("the agent's drives", () => {
  test("are listed, read and written; the first one is the default", async () => {
    const first = await makeDrive({ "/notes/a.md": "alpha" });
    const second = await makeDrive({ "/b.md": "beta" });
    t.llm.script = inTurn(
      {
        calls: [
          { name: "drive_list", args: {} },
          { name: "drive_read", args: { path: "/notes/a.md" } },
          { name: "drive_read", args: { drive_id: second, path: "/b.md" } },
        ],
      },
      call("drive_write", { path: "/out/new.md", content: "gamma" }),
      call("drive_write", { drive_id: second, path: "/b.md", content: "beta 2" }),
      { text: "done" },
    );
    const agent = await t.makeAgent({ tools: allTools, drives: [first, second] });
    const done = await t.run(agent);
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const [list, ofFirst, ofSecond] = t.told(1);
    expect(JSON.parse(list ?? "")).toEqual({ items: [{ path: "/notes", type: "directory" }] });
    expect([ofFirst, ofSecond]).toEqual(["alpha", "beta"]);
    expect(t.told(2).at(-1)).toBe("Wrote 5 bytes to /out/new.md, a new file");
    expect(t.told(3).at(-1)).toContain("replacing the old file");
    expect((await fileOf(first, "/out/new.md")).text).toBe("gamma");
    expect((await fileOf(second, "/b.md")).text).toBe("beta 2");
    const events = await t.events(done.body.id);
    expect(events.filter(({ type }) => type === "tool_result").map(({ tool }) => tool)).toHaveLength(5);
    expect(events.find(({ type }) => type === "tool_call")).toMatchObject({
      tool: "drive_list",
      arguments: {},
    });
    expect(t.offered("drive_list")?.function.parameters).toMatchObject({
      required: [],
      properties: { path: { default: "/" } },
    });
    expect(t.offered("drive_read")?.function.parameters).toMatchObject({ required: ["path"] });
  });

  test("exclude unassigned drives, other users' drives and unknown ones", async () => {
    const given = await makeDrive();
    const mine = await makeDrive({ "/secret.md": "mine alone" });
    const theirs = await makeDrive({ "/secret.md": "theirs alone" }, other);
    t.llm.script = inTurn(
      {
        calls: [
          { name: "drive_read", args: { drive_id: mine, path: "/secret.md" } },
          { name: "drive_read", args: { drive_id: theirs, path: "/secret.md" } },
          { name: "drive_write", args: { drive_id: mine, path: "/secret.md", content: "changed" } },
          { name: "drive_read", args: { path: "/../secret.md" } },
          { name: "drive_read", args: { path: "/nothing.md" } },
        ],
      },
      { text: "done" },
    );
    const done = await t.run(await t.makeAgent({ tools: allTools, drives: [given] }));
    expect(done.body).toMatchObject({ status: "done" });
    const told = t.told(1);
    for (const refusal of told.slice(0, 3)) expect(refusal).toContain("does not have this drive");
    expect(told[3]).toContain("path");
    expect(told[4]).toMatch(/no file|not found/i);
    expect(JSON.stringify(t.llm.requests)).not.toContain("alone");
    expect((await fileOf(mine, "/secret.md")).text).toBe("mine alone");

    t.llm.requests.length = 0;
    t.llm.script = inTurn(call("drive_list", { path: "/" }), { text: "done" });
    await t.run(await t.makeAgent({ tools: ["drive_list"] }));
    expect(t.told(1)).toEqual(["The agent has no drive"]);
  });
});

describe("drive_delete", () => {
  const deleting = async (tool: unknown = "drive_delete") => {
    const drive = await makeDrive({ "/old.md": "old" });
    t.llm.script = inTurn(call("drive_delete", { path: "/old.md" }), { text: "done" });
    return { drive, agent: await t.makeAgent({ tools: [tool], drives: [drive] }) };
  };

  test("needs a confirmation, and deletes when approved", async () => {
    const { drive, agent } = await deleting();
    const { runId, asked } = await t.runUntilAsked(agent);
    expect(asked).toMatchObject({
      tool: "drive_delete",
      arguments: { path: "/old.md" },
      run_id: runId,
      status: "pending",
    });
    expect((await fileOf(drive, "/old.md")).status).toBe(200);
    expect((await t.answer(runId, asked.id, { approve: true })).body).toMatchObject({ status: "approved" });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect((await fileOf(drive, "/old.md")).status).toBe(404);
    expect(t.told(1)).toEqual(["Deleted /old.md"]);
    expect((await t.events(runId)).map(({ type }) => type)).toEqual([
      "planning",
      "confirmation_required",
      "confirmation_resolved",
      "tool_call",
      "tool_result",
      "completed",
    ]);
    const again = await t.answer(runId, asked.id, { approve: true });
    expect([again.status, again.body.error.type]).toEqual([409, "conflict"]);
  });

  test("does nothing when denied, and the model gets the reason", async () => {
    const { drive, agent } = await deleting();
    const { runId, asked } = await t.runUntilAsked(agent);
    await t.answer(runId, asked.id, { approve: false, reason: "I need it." });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect((await fileOf(drive, "/old.md")).text).toBe("old");
    expect(t.told(1)[0]).toMatch(/denied.*I need it\./);
    expect((await t.events(runId)).some(({ type }) => type === "tool_call")).toBe(false);
  });

  test("needs no confirmation if approved in advance or if the binding says never", async () => {
    const first = await deleting();
    const approved = await t.run(first.agent, { approve: ["drive_delete"] });
    expect(approved.body).toMatchObject({ status: "done" });
    expect((await fileOf(first.drive, "/old.md")).status).toBe(404);
    const second = await deleting({ type: "tool", id: "drive_delete", confirm: "never" });
    const waived = await t.run(second.agent);
    expect(waived.body).toMatchObject({ status: "done" });
    expect((await fileOf(second.drive, "/old.md")).status).toBe(404);
    for (const { body } of [approved, waived]) expect(await t.confirmations(body.id)).toEqual([]);
  });

  test("a binding makes drive_write need a confirmation, too", async () => {
    const drive = await makeDrive();
    t.llm.script = inTurn(call("drive_write", { path: "/x.md", content: "x" }), { text: "done" });
    const tools = [{ type: "tool", id: "drive_write", confirm: "always" }];
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ tools, drives: [drive] }));
    expect(asked.arguments).toEqual({ path: "/x.md", content: "x" });
    await t.answer(runId, asked.id, { approve: true });
    expect(await t.ended(runId)).toMatchObject({ status: "done" });
    expect((await fileOf(drive, "/x.md")).text).toBe("x");
  });
});

describe("a call that cannot be made", () => {
  const asking = (id: string) => ({ type: "tool", id, confirm: "always" });

  test("is reported to the model without a confirmation", async () => {
    const drive = await makeDrive({ "/a.md": "a" });
    const spare = await makeDrive({ "/a.md": "a" });
    t.llm.script = inTurn(
      {
        calls: [
          { name: "drive_delete", args: { drive_id: spare, path: "/a.md" } },
          { name: "drive_delete", args: { path: "/../a.md" } },
          { name: "drive_delete", args: { path: "/missing.md" } },
          { name: "drive_read", args: { path: "/missing.md" } },
          { name: "drive_write", args: { path: "/", content: "x" } },
          { name: "drive_list", args: { path: "/missing" } },
        ],
      },
      { text: "done" },
    );
    const done = await t.run(await t.makeAgent({ tools: allTools.map(asking), drives: [drive] }), { wait: 10 });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(await t.confirmations(done.body.id)).toEqual([]);
    const reasons = [
      /does not have this drive/,
      /\.\./,
      /File not found/,
      /File not found/,
      /does not name a file/,
      /not found/,
    ];
    for (const [at, told] of t.told(1).entries()) expect(told).toMatch(reasons[at] ?? "a reason");
    expect(t.told(1)).toHaveLength(reasons.length);
    for (const told of t.told(1)) expect(told).toContain("The tool was not called.");
  });

  test("needs no confirmation of another user, who cannot write the creator's drives", async () => {
    const drive = await makeDrive({ "/shared.md": "shared" });
    const tools = ["drive_delete", asking("drive_write")];
    const agent = await t.makeAgent({ tools, drives: [drive], visibility: "public" });
    t.llm.script = inTurn(
      {
        calls: [
          { name: "drive_delete", args: { path: "/shared.md" } },
          { name: "drive_write", args: { path: "/new.md", content: "x" } },
        ],
      },
      { text: "done" },
    );
    const done = await t.run(agent, { wait: 10 }, { key: other });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(await t.confirmations(done.body.id, { key: other })).toEqual([]);
    for (const told of t.told(1)) expect(told).toContain("Only the creator of the agent can write to its drives");
    expect((await fileOf(drive, "/shared.md")).text).toBe("shared");
  });
});

describe("a run by another user", () => {
  test("reads the creator's drives and never writes them, even if the caller approves", async () => {
    const drive = await makeDrive({ "/shared.md": "shared" });
    const agent = await t.makeAgent({ tools: allTools, drives: [drive], visibility: "public" });
    t.llm.script = inTurn(
      {
        calls: [
          { name: "drive_read", args: { path: "/shared.md" } },
          { name: "drive_list", args: { path: "/" } },
          { name: "drive_write", args: { path: "/shared.md", content: "mine now" } },
          { name: "drive_delete", args: { path: "/shared.md" } },
        ],
      },
      { text: "done" },
    );
    const done = await t.run(agent, { approve: ["drive_delete", "drive_write"] }, { key: other });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const told = t.told(1);
    expect(told[0]).toBe("shared");
    expect(told[1]).toContain("/shared.md");
    for (const refusal of told.slice(2))
      expect(refusal).toContain("Only the creator of the agent can write to its drives");
    expect((await fileOf(drive, "/shared.md")).text).toBe("shared");
  });
});

describe("fixed arguments of a binding", () => {
  const tool = { type: "tool", id: "drive_write", arguments: { path: "/out.md" } };

  test("are hidden from the model, applied, and cannot be overridden", async () => {
    const drive = await makeDrive();
    t.llm.script = inTurn(
      call("drive_write", { content: "one" }),
      call("drive_write", { path: "/elsewhere.md", content: "two" }),
      { text: "done" },
    );
    const done = await t.run(await t.makeAgent({ tools: [tool], drives: [drive] }));
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const { parameters } = t.offered("drive_write")?.function ?? {};
    expect(Object.keys(parameters?.properties as object).sort()).toEqual(["content", "drive_id"]);
    expect(parameters?.required).toEqual(["content"]);
    expect(JSON.stringify(t.llm.requests[0])).not.toContain("/out.md");
    expect((await fileOf(drive, "/out.md")).text).toBe("two");
    expect((await fileOf(drive, "/elsewhere.md")).status).toBe(404);
    const calls = (await t.events(done.body.id)).filter(({ type }) => type === "tool_call");
    expect(calls.map((event) => event.arguments.path)).toEqual(["/out.md", "/out.md"]);
  });

  test("are hidden in a run by another user", async () => {
    const headers = { authorization: "Bearer the-creators-secret" };
    const url = `${t.gantry.url}/healthz`;
    const tools = [
      { type: "tool", id: "http_request", confirm: "always", origin: t.gantry.url, arguments: { headers } },
    ];
    const agent = await t.makeAgent({ tools, visibility: "public" });
    t.llm.script = inTurn(call("http_request", { method: "GET", url }), { text: "done" });
    const { runId, asked } = await t.runUntilAsked(agent, {}, { key: other });
    expect(asked.arguments).toEqual({ method: "GET", url, headers: "[fixed]" });
    await t.answer(runId, asked.id, { approve: true }, { key: other });
    expect(await t.ended(runId, { key: other })).toMatchObject({ status: "done" });
    expect(t.told(1)[0]).toContain("HTTP ");
    expect(await t.everythingShown(runId, { key: other })).not.toContain("the-creators-secret");
  });

  test("that are unknown or of the wrong type are refused when saving", async () => {
    for (const [given, field] of [
      [{ nothing: 1 }, "nothing"],
      [{ path: 7 }, "path"],
    ] as const) {
      const json = { name: "Wrong", goal: "x", tools: [{ ...tool, arguments: given }], model: "admin/llm" };
      const refused = await t.gantry.call("POST", "/v1/agents", { json });
      expect([refused.status, refused.body.error.type]).toEqual([400, "invalid_input"]);
      expect(refused.text).toContain(field);
    }
  });
});

describe("run_model", () => {
  test("accepts a file of a drive and returns the handle of its output", async () => {
    const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#336699" } })
      .png()
      .toBuffer();
    const drive = await makeDrive({ "/in/start.png": new Blob([new Uint8Array(png)], { type: "image/png" }) });
    t.llm.script = inTurn(
      call("run_model", { model: "gantry/image", input: { prompt: "a hill", image1: `drive:${drive}/in/start.png` } }),
      call("run_model", { model: "gantry/image", input: { prompt: "a hill", image1: "/in/missing.png" } }),
      { text: "done" },
    );
    const done = await t.run(await t.makeAgent({ tools: ["run_model"], drives: [drive] }));
    expect(done.body, done.text).toMatchObject({ status: "done" });
    const made = JSON.parse(t.told(1)[0] ?? "");
    expect(made).toEqual({ image: expect.stringMatching(/^s3:\/\//) });
    expect(t.told(2)[1]).toMatch(/image1.*drive/);
    const sign = `/api/v1/gantry/image/download_s3_url?s3_path_to_sign=${encodeURIComponent(made.image)}`;
    const link = await t.gantry.call("GET", sign);
    const image = await fetch(link.body.url);
    expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    // The finished image is charged in addition to the model calls; the other one is free.
    expect(done.body.cost).toBeCloseTo(0.03 + 3 * 0.0002, 6);
  });
});
