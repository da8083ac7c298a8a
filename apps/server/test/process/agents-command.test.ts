import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type AgentRuns, startAgentRuns } from "../support/agent-runs.ts";
import { gantryCommand, startCommand } from "../support/gantry-command.ts";
import { inTurn } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";

// The command as users run it, against a real server with a scripted model.

let runs: AgentRuns;
let folder: string;
beforeAll(async () => {
  runs = await startAgentRuns();
  folder = await mkdtemp(join(tmpdir(), "gantry-agents-command-"));
});
afterAll(async () => {
  await runs?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  runs.llm.requests.length = 0;
});

const settings = () => ({ GANTRY_URL: runs.gantry.url, GANTRY_KEY: runs.gantry.adminKey });
const gantry = (args: string[], input?: string) => gantryCommand(args, settings(), [], input);
const file = async (name: string, content: object) => {
  await writeFile(join(folder, name), JSON.stringify(content));
  return join(folder, name);
};

const asking = { tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] };
const call = { calls: [{ name: "run_javascript", args: { code: "6 * 7" } }] };

test("an agent is created, published, run, listed and deleted", async () => {
  const schema = {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city"],
  };
  const agent = await file("weather.json", {
    ...{ name: "Weather", goal: "Report on {{city}} for {{days}} days.", tools: ["run_javascript"] },
    ...{ model: "admin/llm", input_schema: schema },
  });
  // A retry of this test finds the agent of the first attempt.
  await gantry(["agents", "delete", "weather", "--yes"]);
  const created = await gantry(["agents", "create", agent]);
  expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/^Agent +weather\nId +agt_/)]);
  expect(created.stderr).toContain("gantry agents publish weather");
  const unpublished = await gantry(["agents", "run", "weather", "city=Berlin"]);
  expect([unpublished.code, unpublished.stdout]).toEqual([1, ""]);
  expect((await gantry(["agents", "publish", "weather"])).code).toBe(0);

  runs.llm.script = inTurn({ text: "I compute.", ...call }, { text: "Sunny for 42 days." });
  const ran = await gantry(["agents", "run", "weather", "city=Berlin", "days=3", "--follow"]);
  expect([ran.code, ran.stdout]).toEqual([0, "Sunny for 42 days.\n"]);
  expect(ran.stderr).toMatch(/I compute\.\n→ run_javascript code="6 \* 7"\n/);
  // Text is shown as it streams, which can be before the stored result of the tool.
  expect(ran.stderr).toContain("\n← run_javascript: 42\n");
  expect(ran.stderr).toContain("\nSunny for 42 days.\n");
  expect(ran.stderr).toMatch(/run_\w+: done in .*\$0\.\d+, 200 tokens in, 20 out\n$/);
  expect(runs.llm.requests[0]?.messages.map(({ content }) => content).join()).toContain("Berlin for 3 days");

  const runId = /run_\w+/.exec(ran.stderr)?.[0] ?? "";
  const events = await gantry(["runs", "follow", runId, "--json"]);
  const types = events.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  expect([types[0], types.at(-1)]).toEqual(["planning", "completed"]);
  const trace = await gantry(["runs", "trace", runId]);
  expect(trace.stdout).toMatch(/^Weather run_\w+: done, worked /);
  expect(trace.stdout).toMatch(
    /├─ model admin\/llm +done +.*\n├─ tool run_javascript +done .* 42\n└─ model admin\/llm/,
  );
  const shown = await gantry(["runs", "show", runId]);
  expect(shown.stdout).toMatch(/Status +done\n/);
  expect(shown.stdout).toMatch(/Output +Sunny for 42 days\.\n/);
  expect(shown.stdout).toContain("└─ model admin/llm");
  const listed = await gantry(["runs", "list", "--agent", "weather", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ id: runId, status: "done" }]);

  const wrong = await gantry(["agents", "run", "weather", "city=Berlin", "days=many"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, 'days must be a whole number, not "many".\n']);
  const noCity = await gantry(["agents", "run", "weather", "--input", "-"], '{"days": 3}');
  expect([noCity.code, noCity.stdout]).toEqual([2, ""]);
  expect(noCity.stderr).toContain("city");

  const change = await file("change.json", { description: "Tells the weather." });
  expect((await gantry(["agents", "update", "Weather", change])).stdout).toMatch(/Status +published, newer draft/);
  expect((await gantry(["agents", "show", "admin/weather"])).stdout).toContain("Tells the weather.");
  expect((await gantry(["agents", "list"])).stdout).toMatch(/weather +Weather +published, newer draft +admin\/llm +1 /);
  const unconfirmed = await gantry(["agents", "delete", "weather"]);
  expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining("Add --yes to delete")]);
  expect((await gantry(["agents", "delete", "weather", "--yes"])).code).toBe(0);
  expect((await gantry(["agents", "show", "weather"])).stderr).toContain("The agent weather does not exist.");
}, 120_000);

test("without a terminal, an approval ends the command, and another command gives it", async () => {
  const agentId = await runs.makeAgent(asking);
  runs.llm.script = inTurn(call, { text: "It is 42." });
  const asked = await gantry(["agents", "run", agentId, "--follow"]);
  expect([asked.code, asked.stdout]).toEqual([4, ""]);
  const [, runId = "", id = ""] = /Approve: gantry runs approve (run_\w+) (conf_\w+)/.exec(asked.stderr) ?? [];
  expect(asked.stderr).toContain('"code": "6 * 7"');
  expect((await gantry(["runs", "inbox"])).stdout).toMatch(
    new RegExp(`${runId} +${id} .*run_javascript code="6 \\* 7"`),
  );
  expect((await gantry(["runs", "list", "--waiting"])).stdout).toMatch(new RegExp(`${runId} .* needs approval`));

  const approved = await gantry(["runs", "approve", runId]);
  expect([approved.code, approved.stdout]).toEqual([0, "run_javascript: approved\n"]);
  const followed = await gantry(["runs", "follow", runId]);
  expect([followed.code, followed.stdout]).toEqual([0, "It is 42.\n"]);
  expect(followed.stderr).toMatch(/\? run_javascript was approved\n→ run_javascript .*\n← run_javascript: 42\n/);
  const again = await gantry(["runs", "deny", runId]);
  expect([again.code, again.stderr]).toEqual([1, `The run ${runId} does not wait for an approval.\n`]);

  runs.llm.script = inTurn(call, { text: "Still 42." });
  expect((await gantry(["agents", "run", agentId, "--yes"])).stdout).toBe("Still 42.\n");
  runs.llm.script = inTurn(call, { text: "Always 42." });
  const ahead = await gantry(["agents", "run", agentId, "--approve", "run_javascript", "--json"]);
  expect(JSON.parse(ahead.stdout)).toMatchObject({ status: "done", output: { text: "Always 42." } });
  runs.llm.script = inTurn(call, { text: "Denied, then." });
  const queued = (await gantry(["agents", "run", agentId, "--queue"])).stdout.trim();
  await waitFor("the question", async () => (await runs.confirmations(queued)).length === 1);
  const denied = await gantry(["runs", "deny", queued, "--reason", "Not today", "--json"]);
  expect(JSON.parse(denied.stdout)).toMatchObject({ status: "denied", reason: "Not today" });
  expect((await gantry(["runs", "follow", queued])).stdout).toBe("Denied, then.\n");
}, 120_000);

/** `script` runs its command in a pseudo terminal. The arguments must not need quotes. */
function inTerminal(args: string[], env = settings()) {
  const prefix = ["sh", "-c", 'exec script -qec "$(printf "%s " "$@")" /dev/null', "sh"];
  const { child, ended } = startCommand(args, env, prefix, null);
  let seen = "";
  child.stdout?.on("data", (chunk) => {
    seen += chunk;
  });
  return { child, ended, seen: () => seen };
}

test("in a terminal the approval is asked with a preview, and escape sequences stay visible", async () => {
  const agentId = await runs.makeAgent(asking);
  const hostile = { calls: [{ name: "run_javascript", args: { code: "6 * 7 // \u001b[2J" } }] };
  runs.llm.script = inTurn(hostile, hostile, { text: "Done \u001b[31mred." });
  const { child, ended, seen } = inTerminal(["agents", "run", agentId, "--follow"]);
  await waitFor("the question", () => seen().includes("[y]es"), 30_000);
  expect(seen()).toContain("Allow run_javascript?");
  expect(seen()).toContain('"code": "6 * 7 // \\u001b[2J"');
  child.stdin?.write("perhaps\r");
  await waitFor("the same question", () => seen().includes("Type y, n or a"), 30_000);
  child.stdin?.write("a\r");
  const { code } = await ended;
  expect([code, seen()]).toEqual([0, expect.stringContaining("Done �[31mred.")]);
  // The text came as the model wrote it, and is not printed again as the result.
  expect(seen().split("Done �[31mred.")).toHaveLength(2);
  expect(seen().split("[y]es")).toHaveLength(2);
}, 60_000);

test("a free agent of another user that becomes paid is not charged in a conversation", async () => {
  const agentId = await runs.makeAgent({ visibility: "public", pricing: { per_run: 0 } });
  const { slug } = (await runs.gantry.call("GET", `/v1/agents/${agentId}`)).body;
  runs.llm.script = () => ({ text: "Welcome." });
  const buyer = { ...settings(), GANTRY_KEY: await runs.gantry.newUser("guest", { credit: 5 }) };
  const { child, ended, seen } = inTerminal(["chat", `admin/${slug}`], buyer);
  await waitFor("the prompt", () => seen().includes("> "), 30_000);
  child.stdin?.write("Hello\r");
  await waitFor("the answer", () => seen().includes("Welcome."), 30_000);
  await runs.gantry.call("PATCH", `/v1/agents/${agentId}`, { json: { pricing: { per_run: 1 } } });
  await runs.gantry.call("POST", `/v1/agents/${agentId}/publish`, { json: {} });
  child.stdin?.write("More\r");
  // Terminals drop a Ctrl+D that is typed before the prompt.
  await waitFor("the refusal", () => /is now \$1, not \$0.*> /s.test(seen()), 30_000);
  child.stdin?.write("\u0004");
  expect((await ended).code).toBe(0);
}, 60_000);

test("Ctrl+C at a question cancels the run, and Ctrl+D leaves the question open", async () => {
  const agentId = await runs.makeAgent(asking);
  runs.llm.script = () => call;
  const stopped = inTerminal(["agents", "run", agentId]);
  await waitFor("the question", () => stopped.seen().includes("[y]es"), 30_000);
  const runId = /run_\w+/.exec(stopped.seen())?.[0] ?? "";
  stopped.child.stdin?.write("\u0003");
  expect([(await stopped.ended).code, stopped.seen()]).toEqual([130, expect.stringContaining("was cancelled")]);
  expect(await runs.ended(runId)).toMatchObject({ error: { type: "cancelled" } });

  const left = inTerminal(["agents", "run", agentId]);
  await waitFor("the question", () => left.seen().includes("[y]es"), 30_000);
  // The time of the run must not be written over the question.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(stripVTControlCharacters(left.seen())).toMatch(/in this run: $/);
  left.child.stdin?.write("\u0004");
  expect([(await left.ended).code, left.seen()]).toEqual([4, expect.stringContaining("gantry runs approve run_")]);
}, 120_000);

test("Ctrl+C cancels a run that the command started, and only leaves one that it follows", async () => {
  const agentId = await runs.makeAgent();
  runs.llm.script = () => ({ text: "Thinking", hangs: true });
  const started = startCommand(["agents", "run", agentId, "--follow"], settings());
  let seen = "";
  started.child.stderr?.on("data", (chunk) => {
    seen += chunk;
  });
  await waitFor("the text", () => seen.includes("Thinking"), 30_000);
  const runId = /run_\w+/.exec(seen)?.[0] ?? "";
  const follower = startCommand(["runs", "follow", runId], settings());
  let followed = "";
  follower.child.stderr?.on("data", (chunk) => {
    followed += chunk;
  });
  await waitFor("the text", () => followed.includes("Thinking"), 30_000);
  follower.child.kill("SIGINT");
  expect(await follower.ended).toMatchObject({ code: 130, stderr: expect.stringContaining("The run continues.") });
  expect((await runs.gantry.call("GET", `/v1/runs/${runId}`)).body.status).toBe("running");

  // A terminal sends it to all processes, and npx passes it on.
  started.child.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 30));
  started.child.kill("SIGINT");
  const { code, ...printed } = await started.ended;
  expect(printed).toEqual({ stdout: "", stderr: expect.stringContaining("was cancelled") });
  // A signal that meets a process already exiting ends it by itself. Shells report 130 for that too.
  expect([130, null]).toContain(code);
  expect(await runs.ended(runId)).toMatchObject({ status: "error", error: { type: "cancelled" } });
}, 60_000);

test("steps of sub-agents are indented", async () => {
  const helper = await runs.makeAgent({ name: "Helper", tools: ["run_javascript"] });
  const boss = await runs.makeAgent({ name: "Boss", tools: [{ type: "agent", agent_id: helper, name: "helper" }] });
  let n = 0;
  runs.llm.script = async () => {
    const answers = [{ calls: [{ name: "helper", args: {} }] }, call, { text: "42" }, { text: "The helper says 42." }];
    return answers[Math.min(n++, 3)] ?? {};
  };
  const { code, stdout, stderr } = await gantry(["agents", "run", boss, "--follow"]);
  expect([code, stdout]).toEqual([0, "The helper says 42.\n"]);
  expect(stderr).toContain('\n  Helper: → run_javascript code="6 * 7"\n');
  expect(stderr).toContain("\n→ helper\n");
}, 60_000);

test("a template is set up with its drives and its trigger", async () => {
  const listed = await gantry(["agents", "templates"]);
  expect(listed.stdout).toMatch(/support-desk +agent, drives, trigger +Answers incoming/);
  const made = await gantry(["agents", "set-up", "support-desk", "--model", "admin/llm", "--name", "Desk"]);
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/Drive +Support handbook \(drv_\w+\)/)]);
  const url = /Trigger URL +(\S+)/.exec(made.stdout)?.[1] ?? "";
  expect(new URL(url).pathname).toMatch(/^\/hooks\//);
  const unknown = await gantry(["agents", "set-up", "suport-desk"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    "suport-desk is neither a template nor a file. Did you mean support-desk?\n",
  ]);
}, 60_000);
