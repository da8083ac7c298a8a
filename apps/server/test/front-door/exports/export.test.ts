import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { auditRecord, exportManifest } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allScopes } from "../../support/idp-connector.ts";
import { type RunsWithTenant, startRunsWithTenant } from "../../support/runs-with-tenant.ts";
import { inTurn } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";
import { teamCalls } from "../teams/teams.fixture.ts";
import { coverage } from "./coverage.fixture.ts";
import { callsOf, type Unpacked, unpack } from "./export.fixture.ts";

/** In every secret. */
const secret = "PLANTED-SECRET";
/** In everything of other users. */
const foreign = "OF-ANOTHER-USER";

let w: RunsWithTenant;
let alice: string;
let made: ReturnType<typeof callsOf>;
let token: string;
const ids = { run: "", asked: "", prediction: "", drive: "", trigger: "", batch: "", response: "", confined: "" };
const oddPath = `/Ordner/${"lang-".repeat(40)}/ü%2F:x?.txt`;

const fetchExport = (key: string, query = "", headers = {}) =>
  w.t.gantry.fetch("GET", `/api/v2/export${query}`, { key, headers });

beforeAll(async () => {
  w = await startRunsWithTenant();
  const { gantry, llm } = w.t;
  alice = await gantry.newUser("alice", { credit: 7 });
  made = callsOf(gantry, alice);
  const by = { key: alice };

  await made("PUT", "/api/v2/secrets/crm", { json: { value: secret } });
  const manifest = {
    title: "Chat",
    kind: "text",
    visibility: "private",
    capacity: 5,
    context_window: 8000,
    pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
    input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    output: { type: "object", properties: { output: { type: "string", isStream: true } } },
    backend: { type: "openai-chat", url: llm.url, model: "m", secret: "crm" },
  };
  await made("PUT", "/api/v1/alice/chat", { json: manifest });
  await made("PUT", "/api/v2/aliases/fast", { json: { model: "alice/chat" } });
  await made("PUT", "/api/v2/providers/lab", { json: { type: "ollama", url: "http://127.0.0.1:9" } });
  await made("POST", "/api/v2/keys", { json: { name: "second", monthly_limit: 4 } });
  ids.confined = (await made("POST", "/api/v2/keys", { json: { models: ["gantry/image"] } })).body.key;

  llm.script = () => ({ text: "an answer" });
  const webhook = JSON.stringify({ url: "http://127.0.0.1:9/hook" });
  const sent = await made("POST", "/api/v1/alice/chat/predict/async/", { form: { prompt: "a question", webhook } });
  ids.prediction = sent.body.prediction_id;
  await made("GET", `/api/v1/alice/chat/predict/async/result/?request_id=${ids.prediction}&wait=30`);
  await made("POST", "/api/v1/gantry/image/predict", { form: { prompt: "a harbour", size: "1280x720" } });
  ids.response = (await made("POST", "/v1/responses", { json: { model: "alice/chat", input: "kept?" } })).body.id;

  const line = { custom_id: "one", method: "POST", url: "/v1/chat/completions", body: chat() };
  const file = new File([JSON.stringify(line)], "lines.jsonl");
  const input = (await made("POST", "/v1/files", { form: { purpose: "batch", file } })).body.id;
  const batch = { input_file_id: input, endpoint: "/v1/chat/completions", completion_window: "24h" };
  ids.batch = (await made("POST", "/v1/batches", { json: batch })).body.id;
  await waitFor("the batch", async () => (await made("GET", `/v1/batches/${ids.batch}`)).body.status === "completed");

  ids.drive = (await made("POST", "/v1/drives", { json: { name: "Papers" } })).body.id;
  for (const path of ["/a/b.txt", oddPath]) {
    const form = { path, file: new Blob([`content of ${path}`], { type: "text/plain" }) };
    await made("POST", `/v1/drives/${ids.drive}/files`, { form });
  }
  await made("POST", "/v1/mcp-servers", {
    json: {
      name: "tools",
      url: "http://127.0.0.1:9/mcp",
      connection_type: "streamable_http",
      auth: { type: "bearer", token: secret },
    },
  });
  token = w.tenant.issue(allScopes);
  await made("PUT", "/v1/connectors/idp", { json: { domain: w.tenant.domain, token } });
  const agent = { model: "alice/chat", tools: [{ type: "tool", id: "run_javascript", confirm: "always" }] };
  const agentId = await w.t.makeAgent(agent, by);
  llm.script = inTurn({ text: "done" });
  ids.run = (await w.t.run(agentId, { thread_id: "talk" }, by)).body.id;
  llm.script = inTurn({ calls: [{ name: "run_javascript", args: { code: "1 + 1" } }] }, { text: "done" });
  ids.asked = (await w.t.runUntilAsked(agentId, {}, by)).runId;
  await made("POST", `/v1/agents/${agentId}/schedules`, { json: { name: "yearly", cron: "0 0 1 1 *", input: {} } });
  const trigger = (await made("POST", `/v1/agents/${agentId}/triggers`, { json: { name: "push" } })).body;
  ids.trigger = trigger.url;
  await gantry.call("POST", trigger.url.replace(gantry.url, ""), { key: "", json: {} });
  await w.t.ended((await made("GET", `/v1/triggers/${trigger.id}`)).body.last_run_id, by);

  const bob = callsOf(gantry, await gantry.newUser("bob"));
  await bob("PUT", `/api/v2/secrets/${foreign}`, { json: { value: foreign } });
  await bob("POST", "/api/v1/gantry/text/predict/stream/", { form: { prompt: foreign } });
  await bob("POST", "/v1/drives", { json: { name: foreign } });
}, 120_000);
afterAll(() => w.close());

const chat = () => ({ model: "alice/chat", messages: [{ role: "user", content: "in a batch" }] });

describe("the archive", () => {
  let archive: Unpacked;
  beforeAll(async () => {
    archive = await unpack(await fetchExport(alice));
  });

  test("has the lists that the coverage of the tables names, each described in the README", async () => {
    const { manifest, names } = archive;
    expect(exportManifest.parse(manifest)).toEqual(manifest);
    expect(manifest).toMatchObject({ account: { username: "alice", kind: "person" }, with_files: true });
    const covered = Object.values(coverage).flatMap((lists) => (typeof lists === "string" ? [] : lists));
    expect(Object.keys(manifest.lists).toSorted()).toEqual([...new Set([...covered, "missing"])].toSorted());
    const readme = (await archive.bytes("README.txt")).toString();
    for (const [name, { files }] of Object.entries(manifest.lists)) {
      expect(readme).toContain(`${name}.jsonl`);
      expect(names).toEqual(expect.arrayContaining(files));
    }
    expect([names[0], names.at(-1)]).toEqual(["README.txt", "manifest.json"]);
  });

  test.each([
    ["keys", "/api/v2/keys?page_size=100", "results"],
    ["predictions", "/api/v2/predictions?page_size=100", "results"],
    ["usage", "/api/v2/usage?page_size=100", "results", "request_id"],
    ["ledger", "/api/v2/ledger?page_size=100", "results"],
    ["files", "/api/v2/files?page_size=100", "results"],
    ["webhook_deliveries", "/api/v2/webhooks/deliveries?page_size=100", "results"],
    ["aliases", "/api/v2/aliases", "results", "name"],
    ["secrets", "/api/v2/secrets", "results", "name"],
    ["agents", "/v1/agents", "agents"],
    ["runs", "/v1/runs", "runs"],
    ["confirmations", "/v1/confirmations", "confirmations"],
    ["threads", "/v1/threads", "threads"],
    ["schedules", "/v1/schedules", "schedules"],
    ["triggers", "/v1/triggers", "triggers"],
    ["tool_servers", "/v1/mcp-servers", "mcp_servers"],
    ["drives", "/v1/drives", "drives"],
    ["batches", "/v1/batches", "data"],
  ])("has all %s that the API lists", async (name, path, field, id = "id") => {
    const listed = (await made("GET", path)).body[field];
    const exported = await archive.list(name);
    expect(listed.length).toBeGreaterThan(0);
    expect(exported.map((one) => one[id]).toSorted()).toEqual(
      listed.map((one: typeof exported) => one[id as never]).toSorted(),
    );
  });

  test("has the records of the API", async () => {
    const [prediction] = (await archive.list("predictions")).filter(({ id }) => id === ids.prediction);
    expect(prediction).toMatchObject({ input: { prompt: "a question" }, output: { output: "an answer" } });
    const path = `/api/v2/predictions/${ids.prediction}`;
    expect({ ...prediction, webhook: null }).toEqual({ ...(await made("GET", path)).body, webhook: null });
    expect(await archive.list("account")).toMatchObject([{ username: "alice", kind: "person" }]);
    expect(await archive.list("models")).toMatchObject([{ endpoint_id: "alice/chat", backend: { secret: "crm" } }]);
    expect(await archive.list("providers")).toMatchObject([{ name: "lab", owner: "alice" }]);
    expect(await archive.list("connectors")).toMatchObject([{ domain: w.tenant.domain, token_last4: token.slice(-4) }]);
    expect(await archive.list("batch_lines")).toMatchObject([
      { batch_id: ids.batch, custom_id: "one", status: expect.any(Number) },
    ]);
    expect(await archive.list("trigger_deliveries")).toHaveLength(1);
    const [response] = await archive.list("responses");
    expect([response.id, JSON.stringify(response.input)]).toEqual([ids.response, expect.stringContaining("kept?")]);
    for (const one of await archive.list("audit")) expect(auditRecord.parse(one)).toEqual(one);
    const { body } = await made("GET", `/v1/runs/${ids.asked}/events/list`);
    const events = (await archive.list("run_events")).filter(({ run_id }) => run_id === ids.asked);
    expect(events.map(({ type }) => type)).toEqual(body.events.map(({ type }: { type: string }) => type));
    const { runs } = (await made("GET", "/v1/runs")).body;
    expect((await archive.list("run_traces")).map(({ run_id }) => run_id)).toEqual(
      runs.map(({ id }: { id: string }) => id),
    );
    expect((await archive.list("agent_revisions")).map(({ number }) => number)).toEqual([1]);
  });

  test("has the files and the contents of drives, under safe names", async () => {
    const files = await archive.list("files");
    const picture = files.find(({ origin }) => origin === "output");
    const served = await fetch(picture.link);
    const name = picture.s3_path.split("/").at(-1);
    expect(await archive.bytes(`files/${picture.id}/${name}`)).toEqual(Buffer.from(await served.arrayBuffer()));
    expect((await archive.bytes(`drives/${ids.drive}/a/b.txt`)).toString()).toBe("content of /a/b.txt");
    expect((await archive.list("drive_files")).map(({ path }) => path)).toEqual([oddPath, "/a/b.txt"].toSorted());
    const odd = archive.names.find((one) => one.startsWith(`drives/${ids.drive}/Ordner`)) ?? "";
    expect(odd).toMatch(/\.txt$/);
    expect(odd).not.toMatch(/[:?]/);
    expect(archive.manifest.contents.missing).toBe(0);
  });

  test("has no secrets, and nothing of other users", () => {
    const secrets = [secret, foreign, alice, ids.confined, token, ids.trigger.split("/").at(-1) ?? "", "whsec_"];
    for (const one of secrets) {
      expect(one.length).toBeGreaterThan(5);
      expect(archive.text.includes(one), one).toBe(false);
    }
  });
});

test("without files it has only their lists", async () => {
  const archive = await unpack(await fetchExport(alice, "?files=false"));
  expect(archive.manifest).toMatchObject({ with_files: false, contents: { files: 0, bytes: 0 } });
  expect((await archive.list("files")).length).toBeGreaterThan(0);
  expect(archive.names.filter((name) => name.startsWith("files/") || name.startsWith("drives/"))).toEqual([]);
  const wrong = await w.t.gantry.call("GET", "/api/v2/export?files=no", { key: alice });
  expect([wrong.status, wrong.body.detail[0].loc]).toEqual([422, ["query", "files"]]);
});

describe("access", () => {
  const statusOf = async (key: string, path = "/api/v2/export", headers = {}) => {
    const response = await w.t.gantry.fetch("GET", `${path}?files=false`, { key, headers });
    await response.arrayBuffer();
    return response.status;
  };

  test("keys without all rights are refused, and so is HEAD", async () => {
    expect(await statusOf("")).toBe(401);
    expect(await statusOf(ids.confined)).toBe(403);
    const limited = (await made("POST", "/api/v2/keys", { json: { daily_limit: 1 } })).body.key;
    expect(await statusOf(limited)).toBe(403);
    const { id, key } = (await made("POST", "/api/v2/keys", { json: {} })).body;
    await made("POST", `/api/v2/keys/${id}/rotate`, { json: { grace_seconds: 3600 } });
    expect(await statusOf(key)).toBe(403);
    expect((await w.t.gantry.call("HEAD", "/api/v2/export", { key: alice })).status).toBe(405);
  });

  test("admins export any account, and the audit log says so", async () => {
    expect(await statusOf(alice, "/api/v2/admin/users/admin/export")).toBe(403);
    expect(await statusOf(w.t.gantry.adminKey, "/api/v2/admin/users/unknown/export")).toBe(404);
    await w.t.gantry.call("PATCH", "/api/v2/admin/users/bob", { json: { disabled: true } });
    const archive = await unpack(await w.t.gantry.fetch("GET", "/api/v2/admin/users/bob/export"));
    expect(archive.manifest.account.username).toBe("bob");
    expect((await archive.list("secrets")).map(({ name }) => name)).toEqual([foreign]);
    const { results } = (await w.t.gantry.call("GET", "/api/v2/admin/audit?action=user.export&owner=bob")).body;
    expect(results).toMatchObject([{ actor: { username: "admin" }, object: { type: "user", name: "bob" } }]);
  });

  test("a team is exported by its owners and admins, without what its members have of their own", async () => {
    const teams = teamCalls(w.t.gantry);
    await teams.newTeam("lab", "alice");
    const carol = await w.t.gantry.newUser("carol");
    await callsOf(w.t.gantry, carol)("PUT", `/api/v2/secrets/${foreign}`, { json: { value: foreign } });
    await teams.add("lab", "carol");
    const team = { "x-gantry-team": "lab" };
    await teams
      .as(carol, "lab")
      .made("POST", "/api/v1/gantry/text/predict/stream/", { form: { prompt: "of the team" } });
    expect(await statusOf(carol, "/api/v2/export", team)).toBe(403);
    const archive = await unpack(await fetchExport(alice, "", team));
    expect(archive.manifest.account).toMatchObject({ username: "lab", kind: "team" });
    expect((await archive.list("members")).map(({ username }) => username)).toEqual(["alice", "carol"]);
    expect(await archive.list("predictions")).toMatchObject([{ input: { prompt: "of the team" } }]);
    expect(archive.text).not.toContain(foreign);
    const own = await unpack(await fetchExport(alice, "?files=false"));
    expect(await own.list("teams")).toMatchObject([{ name: "lab", role: "owner" }]);
    expect(own.text).not.toContain("of the team");
  });
});

test("files that are gone are listed as missing", async () => {
  const stored = async () => {
    const found = await readdir(join(w.t.gantry.home, "blobs"), { recursive: true, withFileTypes: true });
    return found.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  };
  const before = await stored();
  const form = { file: new File(["lost"], "lost.txt") };
  await made("POST", "/api/v1/gantry/image/upload_file", { form });
  const lost = (await stored()).filter((path) => !before.includes(path));
  expect(lost.length).toBeGreaterThan(0);
  for (const path of lost) await rm(path);
  const archive = await unpack(await fetchExport(alice));
  const [{ id }] = (await archive.list("files")).filter(({ s3_path }) => s3_path.endsWith("lost.txt"));
  expect(await archive.list("missing")).toEqual([{ path: `files/${id}/lost.txt`, reason: "deleted" }]);
  expect(archive.manifest.contents.missing).toBe(1);
});

test("one export of an account runs at a time, and closing the connection stops it", async () => {
  const dave = await w.t.gantry.newUser("dave");
  const drive = (await callsOf(w.t.gantry, dave)("POST", "/v1/drives", { json: { name: "large" } })).body.id;
  const form = { path: "/large.bin", file: new Blob([randomBytes(30_000_000)]) };
  await callsOf(w.t.gantry, dave)("POST", `/v1/drives/${drive}/files`, { form });

  const leaving = new AbortController();
  const first = await w.t.gantry.fetch("GET", "/api/v2/export", { key: dave, signal: leaving.signal });
  expect(first.status).toBe(200);
  const second = await w.t.gantry.call("GET", "/api/v2/export", { key: dave });
  expect([second.status, second.headers.get("retry-after")]).toEqual([409, "30"]);
  expect(second.body.detail).toContain("An export of this account is running");
  const teams = teamCalls(w.t.gantry);
  await teams.newTeam("dock", "dave");
  const ofTeam = await fetchExport(dave, "", { "x-gantry-team": "dock" });
  expect([ofTeam.status, await ofTeam.text()]).toEqual([409, expect.stringContaining("another account")]);
  leaving.abort();
  await waitFor("the export to stop", async () => {
    const again = await fetchExport(dave, "?files=false");
    await again.arrayBuffer();
    return again.status === 200;
  });
});
