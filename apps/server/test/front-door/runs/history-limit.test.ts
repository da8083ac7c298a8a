import { expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform({ pricing: {} });
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const js = { name: "run_javascript", args: { code: "1" } };
const asking = { type: "tool", id: "run_javascript", confirm: "always" };
const tooLong = { type: "limit_exceeded", message: expect.stringContaining("exceed 64 MB. Divide the task") };

/** Starts a run that waits for a confirmation, adds so many megabytes of results to its history, and approves. */
async function continueWith(megabytes: number, agent: string): Promise<string> {
  const id = await platform.start(agent);
  await waitFor("the question", async () => (await platform.read(id)).phase === "awaiting_confirmation");
  await platform.gantry.database.sql`
    insert into run_calls (run_id, step, position, call_id, tool, arguments, kind, status, result, is_error)
    select ${id}, 1, n, 'call_' || n, 'run_javascript', '{}', 'read', 'ended', repeat('x', 1048576), false
    from generate_series(1001, 1000 + ${megabytes}::int) n`;
  // The model sees their beginnings, because counting the tokens of all would take long.
  await platform.gantry.database.sql`update runs set cut_before = 2 where id = ${id}`;
  const path = `/v1/runs/${id}/confirmations`;
  const [question] = (await call("GET", path)).body.confirmations;
  expect((await call("POST", `${path}/${question.id}`, { json: { approve: true } })).status).toBe(200);
  return id;
}

test("a run ends once the results of its tools exceed the limit of its history", async () => {
  const drive = (await call("POST", "/v1/drives", { json: { name: "Long" } })).body.id;
  const form = { path: "/long.txt", file: new Blob(["x".repeat(70_000)]) };
  expect((await call("POST", `/v1/drives/${drive}/files`, { form })).status).toBe(201);
  const fields = { tools: [asking, "drive_read"], drives: [drive], context_compression: false };
  const reads = Array.from({ length: 64 }, () => ({ name: "drive_read", args: { path: "/long.txt" } }));
  platform.llm.script = (request, n) => {
    if (toolResults(request).length === 0) return { calls: [js] };
    return n > 2 ? { text: "done" } : { calls: reads };
  };
  const id = await continueWith(61, await platform.makeAgent(fields));
  expect(await platform.ended(id)).toMatchObject({ status: "error", error: tooLong });
  // 61 MB when the run was claimed again, and 4 MB in its next step.
  expect(platform.llm.requests).toHaveLength(2);
});

test("a run whose stored history exceeds the limit ends when it is claimed again", async () => {
  platform.llm.script = (request) => (toolResults(request).length > 0 ? { text: "done" } : { calls: [js] });
  const id = await continueWith(65, await platform.makeAgent({ tools: [asking] }));
  expect(await platform.ended(id)).toMatchObject({ status: "error", error: tooLong });
  expect(platform.llm.requests).toHaveLength(1);
});
