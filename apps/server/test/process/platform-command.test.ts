import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentRuns, startAgentRuns } from "../support/agent-runs.ts";
import { gantryCommand } from "../support/gantry-command.ts";

// Threads, schedules, triggers, files and tool servers, as users handle them with the command.

let runs: AgentRuns;
let folder: string;
beforeAll(async () => {
  runs = await startAgentRuns();
  folder = await mkdtemp(join(tmpdir(), "gantry-platform-command-"));
});
afterAll(async () => {
  await runs?.close();
  await rm(folder, { recursive: true, force: true });
});

const gantry = (args: string[], input?: string, env: Record<string, string> = {}) =>
  gantryCommand(args, { GANTRY_URL: runs.gantry.url, GANTRY_KEY: runs.gantry.adminKey, ...env }, [], input);
const json = async (args: string[], input?: string) => {
  const { code, stdout, stderr } = await gantry([...args, "--json"], input);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

test("threads and schedules", async () => {
  await runs.makeAgent({ name: "Clerk", goal: "Answer: {{question}}" });
  runs.llm.script = () => ({ text: "The answer." });
  const ask = ["agents", "run", "clerk", "question=Why?", "--thread", "ticket-7"];
  expect((await gantry(ask)).stdout).toBe("The answer.\n");
  const [listed, shown] = await Promise.all([gantry(["threads", "list"]), gantry(["threads", "show", "ticket-7"])]);
  expect(listed.stdout).toMatch(/ticket-7 +Clerk +1 +done +.*Why\?/);
  expect(shown.stdout).toMatch(/run_\w+ .*\n> Why\?\nThe answer\.\n$/);
  expect(await json(["threads", "delete", "ticket-7", "--yes"])).toEqual({ id: "ticket-7", deleted: true });
  expect((await gantry(["threads", "show", "ticket-7"])).code).toBe(1);

  const create = ["schedules", "create", "clerk", "--cron", "0 9 * * MON-FRI", "--timezone", "Europe/Berlin"];
  const { id } = await json([...create, "question=What?", "--max-cost", "0.5", "--name", "Daily"]);
  const schedule = await gantry(["schedules", "pause", id]);
  expect(schedule.stdout).toMatch(/When +0 9 \* \* MON-FRI Europe\/Berlin\nStatus +disabled\n/);
  expect(await json(["schedules", "resume", id])).toMatchObject({ status: "active", max_cost: 0.5 });
  expect((await gantry(["schedules", "list"])).stdout).toMatch(/Clerk +0 9 \* \* MON-FRI .* active +in /);
  expect((await gantry(["schedules", "run", id])).stdout).toBe("The answer.\n");
  const change = ["schedules", "change", id, "--cron", "@daily", "--timezone", "UTC", "--max-cost", "none"];
  expect(await json([...change, "tone=kind"])).toMatchObject({
    ...{ cron: "@daily", timezone: "UTC", max_cost: null, name: "Daily" },
    input: { question: "What?", tone: "kind" },
  });
  expect((await gantry(["schedules", "change", id])).stderr).toContain("Nothing to change");
  const badCron = await gantry(["schedules", "create", "clerk", "--cron", "often"]);
  expect([badCron.code, badCron.stdout]).toEqual([1, ""]);
  expect((await gantry(["schedules", "delete", id, "--yes"])).stderr).toBe(`Deleted ${id}.\n`);
}, 180_000);

test("triggers and tool servers: secrets come from the environment or stdin", async () => {
  await runs.makeAgent({ name: "Greeter" });
  await writeFile(join(folder, "input.json"), '{"text": "{{body.message}}"}');
  const create = ["triggers", "create", "greeter", "--input", join(folder, "input.json"), "--verify", "github"];
  expect((await gantry(create)).stderr).toContain("--secret-env VARIABLE or --secret-stdin");
  const created = await gantry([...create, "--secret-stdin"], "a-long-random-text\n");
  expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/Verification +github\n/)]);
  const urlOf = (text: string) => /^URL +(\S+)$/m.exec(text)?.[1] ?? "";
  const id = /trg_\w+|^Trigger +(\S+)/m.exec(created.stdout)?.at(1) ?? "";
  const refused = await fetch(urlOf(created.stdout), { method: "POST", body: '{"message": "Hi"}' });
  expect(refused.status).toBe(401);
  const shown = await gantry(["triggers", "show", id]);
  expect(shown.stdout).toMatch(/refused/);
  expect(shown.stdout).not.toContain("/hooks/");
  expect((await gantry(["triggers", "rotate", id])).code).toBe(2);
  const rotated = await gantry(["triggers", "rotate", id, "--yes"]);
  expect(urlOf(rotated.stdout)).toContain("/hooks/");
  expect((await fetch(urlOf(created.stdout), { method: "POST", body: "{}" })).status).toBe(404);
  expect((await gantry(["triggers", "pause", id])).stdout).toMatch(/Status +disabled\n/);
  expect(await json(["triggers", "resume", id])).toMatchObject({ status: "active" });
  const changed = await json(["triggers", "change", id, "--overlap", "queue", "--thread", "all", "--approve", "none"]);
  expect(changed).toMatchObject({ overlap: "queue", thread_id: "all", approve: [], verification: { type: "github" } });
  expect((await gantry(["triggers", "delete", id, "--yes"])).code).toBe(0);
  expect((await gantry(["triggers", "list"])).stderr).toContain("You have no triggers.");

  const connect = ["tool-servers", "connect", "own", `${runs.gantry.url}/mcp`, "--auth", "api_key"];
  const env = { OWN_KEY: runs.gantry.adminKey };
  const connected = await gantry([...connect, "--token-env", "OWN_KEY"], undefined, env);
  expect([connected.code, connected.stdout]).toEqual([0, expect.stringMatching(/Status +connected\n/)]);
  expect(connected.stdout).not.toContain(env.OWN_KEY);
  expect((await gantry(["tool-servers", "tools", "own"])).stdout).toMatch(/^own__\w+ /m);
  expect((await gantry(["tool-servers", "delete", "own", "--yes"])).code).toBe(0);
}, 180_000);

test("the price of another user's agent is agreed to, and a new one is accepted", async () => {
  const agentId = await runs.makeAgent({ name: "Oracle", visibility: "public", pricing: { per_run: 0 } });
  const cost = async (per_run: number) => {
    await runs.gantry.call("PATCH", `/v1/agents/${agentId}`, { json: { pricing: { per_run } } });
    expect((await runs.gantry.call("POST", `/v1/agents/${agentId}/publish`, { json: {} })).status).toBe(200);
  };
  const env = { GANTRY_KEY: await runs.gantry.newUser("buyer", { credit: 5 }) };
  const buy = async (...args: string[]) => gantry(args, undefined, env);
  const create = ["schedules", "create", "admin/oracle", "--cron", "@daily", "--json"];
  const free = JSON.parse((await buy(...create)).stdout);
  const hook = JSON.parse((await buy("triggers", "create", "admin/oracle", "--json")).stdout);
  expect([free.expected_price, hook.expected_price]).toEqual([0, 0]);

  await cost(0.05);
  const paid = await buy("triggers", "create", "admin/oracle");
  expect(paid.stderr).toContain("A run of Oracle costs $0.05, and its model calls.\n");
  expect(paid.stdout).toMatch(/Price agreed to +\$0\.05\n/);
  expect((await buy("schedules", "run", free.id)).stderr).toContain("The price of this agent is now $0.05, not $0.");
  expect((await buy("schedules", "change", free.id, "--expected-price", "0.05")).stdout).toMatch(
    /agreed to +\$0\.05\n/,
  );
  runs.llm.script = () => ({ text: "Yes." });
  expect((await buy("schedules", "run", free.id)).stdout).toBe("Yes.\n");
  const any = await buy("triggers", "change", hook.id, "--expected-price", "any", "--json");
  expect(JSON.parse(any.stdout)).toMatchObject({ expected_price: null });
}, 180_000);

test("files are uploaded, downloaded and deleted", async () => {
  await writeFile(join(folder, "note.txt"), "A note.");
  const uploaded = await gantry(["files", "upload", join(folder, "note.txt"), join(folder, "missing.txt")]);
  expect([uploaded.code, uploaded.stdout]).toEqual([3, expect.stringMatching(/^s3:\/\/\S+\n$/)]);
  expect(uploaded.stderr).toContain("missing.txt.");
  const missing = await gantry(["files", "upload", join(folder, "missing.txt"), "--json"]);
  expect([missing.code, missing.stdout]).toEqual([1, ""]);
  const address = uploaded.stdout.trim();
  const [file] = await json(["files", "list", "--origin", "uploaded"]);
  expect(file).toMatchObject({ s3_path: address, size: 7 });
  expect((await gantry(["files", "download", file.id, "--out", "-"])).stdout).toBe("A note.");
  const to = join(folder, "copy.txt");
  expect((await gantry(["files", "download", address, "--out", to])).stdout).toBe(`${to}\n`);
  expect(await readFile(to, "utf8")).toBe("A note.");
  const again = await gantry(["files", "download", address, "--out", to]);
  expect([again.code, again.stderr]).toEqual([1, `${to} exists. Add --force to replace it.\n`]);
  expect(await json(["files", "download", address, "--out", to, "--force"])).toEqual({
    id: file.id,
    path: to,
    bytes: 7,
  });
  const piped = await gantry(["files", "download", address, "--out", "-", "--json"]);
  expect([piped.code, piped.stdout, piped.stderr]).toEqual([2, "", expect.stringContaining("--json needs a file")]);
  expect(await json(["files", "delete", address, "--yes"])).toEqual({ deleted: [file.id] });
  expect((await gantry(["files", "download", file.id])).stderr).toContain("does not exist");
}, 120_000);
