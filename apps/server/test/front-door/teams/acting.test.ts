import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Calls, messageOf, type TeamCalls, teamCalls } from "./teams.fixture.ts";

let t: AgentRuns;
let gantry: GantryNode;
let calls: TeamCalls;
let second: GantryNode;
const keys: Record<"olga" | "anna" | "mark" | "mira" | "sam", string> = {
  olga: "",
  anna: "",
  mark: "",
  mira: "",
  sam: "",
};

/** As a member of the team lab. */
const lab = (name: keyof typeof keys): Calls => calls.as(keys[name], "lab");

beforeAll(async () => {
  t = await startAgentRuns();
  gantry = t.gantry as GantryNode;
  second = await startGantry({ beside: gantry });
  calls = teamCalls(gantry);
  for (const name of Object.keys(keys) as (keyof typeof keys)[]) keys[name] = await gantry.newUser(name);
  await calls.newTeam("lab", "olga");
  await calls.add("lab", "anna", { role: "admin" });
  await calls.add("lab", "mark");
  await calls.add("lab", "mira");
}, 60_000);
afterAll(async () => {
  await second.close();
  await t.close();
});
beforeEach(() => {
  t.llm.script = () => ({ text: "done" });
});

const refused = async (
  call: Promise<{ status: number; body: unknown; text: string }>,
  status: number,
  text: string,
) => {
  const answer = await call;
  expect([answer.status, messageOf(answer as never)], answer.text).toEqual([status, expect.stringContaining(text)]);
};

describe("who acts", () => {
  test("a member is the team, and stays itself without the header", async () => {
    expect((await lab("mark").get("/api/v2/me")).body).toMatchObject({
      username: "lab",
      kind: "team",
      role: "user",
      team_role: "member",
      acting_user: "mark",
    });
    const own = await calls.as(keys.mark).get("/api/v2/me");
    expect(own.body).toMatchObject({ username: "mark", kind: "person", team_role: null, acting_user: null });
  });

  test("an admin of the service has no further rights while it acts for a team", async () => {
    await gantry.call("POST", "/api/v2/admin/users", { json: { username: "root", role: "admin" } });
    const root = (await gantry.call("POST", "/api/v2/admin/users/root/keys", { json: {} })).body.key;
    await refused(calls.as(root, "lab").get("/api/v2/me"), 404, "Team not found");
    await calls.add("lab", "root");
    expect((await calls.as(root, "lab").get("/api/v2/me")).body).toMatchObject({ role: "user", team_role: "member" });
    await refused(calls.as(root, "lab").get("/api/v2/admin/users"), 403, "Only an admin may do this");
    expect((await calls.as(root).get("/api/v2/admin/users?kind=team")).body.results).toMatchObject([
      { username: "lab", kind: "team", role: "user" },
    ]);
    await calls.as(root).made("DELETE", "/api/v2/teams/lab/members/root");
  });

  test.each([
    ["/v1/runs", {}],
    ["/v1/models", {}],
    ["/v1/models", { "anthropic-version": "2023-06-01" }],
    ["/api/v1", {}],
    ["/api/v2/me", {}],
  ] as const)("an unknown team is not found in the dialect of %s", async (path, headers) => {
    const missing = await gantry.call("GET", path, { key: keys.sam, headers: { ...headers, "x-gantry-team": "none" } });
    const strange = await gantry.call("GET", path, { key: keys.sam, headers: { ...headers, "x-gantry-team": "lab" } });
    expect([missing.status, messageOf(missing)]).toEqual([404, "Team not found"]);
    expect([strange.status, messageOf(strange)]).toEqual([404, "Team not found"]);
  });

  test("restricted keys cannot act for a team", async () => {
    const own = calls.as(keys.mark);
    const withKey = async (json: object) => (await own.made("POST", "/api/v2/keys", { json })).body;
    for (const [json, text] of [
      [{ models: ["gantry/text"] }, "limited to some models"],
      [{ monthly_limit: 5 }, "has a limit"],
    ] as const) {
      await refused(calls.as((await withKey(json)).key, "lab").get("/api/v2/me"), 403, text);
    }
    const rotated = await withKey({});
    await own.made("POST", `/api/v2/keys/${rotated.id}/rotate`, { json: { grace_seconds: 60 } });
    await refused(calls.as(rotated.key, "lab").get("/api/v2/me"), 403, "replaced by a rotation");
  });

  test("a key that expires creates only keys of the team that expire no later", async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const short = (await calls.as(keys.mark).made("POST", "/api/v2/keys", { json: { expires_at } })).body.key;
    await refused(calls.as(short, "lab").send("POST", "/api/v2/keys", { json: {} }), 403, "wider access");
  });

  test("a key that expires sets up nothing that goes on for the team without it", async () => {
    const lasting = (await lab("mark").made("POST", "/v1/agents", { json: { name: "A", goal: "Go.", tools: [] } }))
      .body;
    const agent = `/v1/agents/${lasting.id}`;
    await lab("mark").made("POST", `${agent}/publish`, { json: {} });
    const json = { cron: "0 0 1 1 *", input: {} };
    const schedule = `/v1/schedules/${(await lab("mark").made("POST", `${agent}/schedules`, { json })).body.id}`;
    const trigger = `/v1/triggers/${(await lab("mark").made("POST", `${agent}/triggers`, { json: {} })).body.id}`;
    const expiring = { json: { expires_at: new Date(Date.now() + 3_600_000).toISOString() } };
    const { key } = (await calls.as(keys.mark).made("POST", "/api/v2/keys", expiring)).body;
    const temporary = calls.as(key, "lab");
    for (const [method, path, body] of [
      ["POST", `${agent}/schedules`, json],
      ["PATCH", schedule, { input: { n: 1 } }],
      ["POST", `${agent}/triggers`, {}],
      ["PATCH", trigger, { enabled: true }],
      ["POST", `${trigger}/rotate`, {}],
    ] as const) {
      await refused(temporary.send(method, path, { json: body }), 403, "This key expires");
    }
    await temporary.made("PATCH", trigger, { json: { enabled: false } });
    const ofTeam = (await lab("mark").made("POST", "/api/v2/keys", expiring)).body.key;
    await calls.as(ofTeam).made("POST", `${agent}/triggers`, { json: {} });
  });

  test("a key of a team is that team only, and cannot sign in", async () => {
    const { key } = (await lab("mark").made("POST", "/api/v2/keys", { json: { name: "bot" } })).body;
    const bot = calls.as(key);
    expect((await bot.get("/api/v2/me")).body).toMatchObject({
      username: "lab",
      team_role: "member",
      acting_user: "mark",
    });
    expect((await calls.as(key, "lab").get("/api/v2/me")).status).toBe(200);
    await refused(calls.as(key, "olga").get("/api/v2/me"), 403, "belongs to the team lab");
    await refused(bot.get("/api/v2/teams"), 403, "A team cannot list teams");
    const signIn = await gantry.call("POST", "/console/api/session", { key: "", json: { key } });
    expect([signIn.status, signIn.headers.get("set-cookie")]).toEqual([403, null]);
  });

  test("no one can sign in as a team, or give it a password or the role of an admin", async () => {
    await refused(gantry.call("POST", "/api/v2/sign-in-links", { json: { username: "lab" } }), 409, "cannot sign in");
    for (const json of [{ role: "admin" }, { password: "long enough" }]) {
      await refused(gantry.call("PATCH", "/api/v2/admin/users/lab", { json }), 409, "cannot sign in");
    }
    await refused(gantry.call("POST", "/api/v2/admin/users/lab/keys", { json: {} }), 409, "created by its members");
  });
});

describe("what members see", () => {
  test("everything that the team owns, and nothing of the person", async () => {
    const agent = (
      await lab("mark").made("POST", "/v1/agents", {
        json: { name: "Shared", goal: "x", tools: [], model: "admin/llm" },
      })
    ).body;
    expect(agent.owner ?? "lab").toBe("lab");
    const drive = (await lab("mark").made("POST", "/v1/drives", { json: { name: "Papers" } })).body;
    for (const name of ["olga", "anna", "mira"] as const) {
      expect((await lab(name).get(`/v1/agents/${agent.id}`)).status).toBe(200);
      expect((await lab(name).get(`/v1/drives/${drive.id}`)).status).toBe(200);
    }
    for (const own of [calls.as(keys.mark), calls.as(keys.olga), calls.as(keys.sam)]) {
      expect((await own.get(`/v1/agents/${agent.id}`)).status).toBe(404);
      expect((await own.get(`/v1/drives/${drive.id}`)).status).toBe(404);
    }
    const ofPerson = (await calls.as(keys.mark).made("POST", "/v1/drives", { json: { name: "Diary" } })).body;
    for (const name of ["mark", "olga"] as const) {
      expect((await lab(name).get(`/v1/drives/${ofPerson.id}`)).status).toBe(404);
    }
  });

  test("plain members see their own work, admins and owners all of it", async () => {
    const predict = async (by: Calls) =>
      (await by.made("POST", "/api/v1/gantry/text/predict/async/", { form: { prompt: "hello" } })).body.prediction_id;
    const bot = calls.as((await lab("mark").made("POST", "/api/v2/keys", { json: { name: "worker" } })).body.key);
    const ids = { mark: await predict(lab("mark")), bot: await predict(bot), mira: await predict(lab("mira")) };
    for (const id of Object.values(ids)) {
      const result = await lab("olga").get(`/api/v1/gantry/text/predict/async/result/?request_id=${id}&wait=30`);
      expect(result.status, result.text).toBe(200);
    }
    const seen = async (by: Calls) => {
      const listed: string[] = (await by.made("GET", "/api/v2/predictions")).body.results.map(
        ({ id }: { id: string }) => id,
      );
      return Object.entries(ids).flatMap(([name, id]) => (listed.includes(id) ? [name] : []));
    };
    expect(await seen(lab("mark"))).toEqual(["mark", "bot"]);
    expect(await seen(bot)).toEqual(["mark", "bot"]);
    expect(await seen(lab("mira"))).toEqual(["mira"]);
    for (const name of ["olga", "anna"] as const) expect(await seen(lab(name))).toEqual(["mark", "bot", "mira"]);
    expect(await seen(calls.as(keys.mark))).toEqual([]);
    expect((await lab("mira").get(`/api/v2/predictions/${ids.mark}`)).status).toBe(404);
    const agent = await lab("olga").made("POST", "/v1/agents", {
      json: { name: "Worker", goal: "x", tools: [], model: "gantry/text" },
    });
    await lab("olga").made("POST", `/v1/agents/${agent.body.id}/publish`, { json: {} });
    const run = (await lab("mark").made("POST", `/v1/agents/${agent.body.id}/runs`, { json: { input: {}, wait: 30 } }))
      .body.id;
    expect((await lab("mira").get(`/v1/runs/${run}`)).status).toBe(404);
    expect((await bot.get(`/v1/runs/${run}`)).status).toBe(200);
    expect((await lab("anna").get(`/v1/runs/${run}`)).status).toBe(200);
    const keysSeen = async (by: Calls) => (await by.made("GET", "/api/v2/keys")).body.results;
    for (const key of await keysSeen(lab("mira"))) expect(key.member).toBe("mira");
    expect((await keysSeen(lab("olga"))).map(({ member }: { member: string }) => member)).toContain("mark");
  });

  test("plain members neither price nor publish nor send secrets with agents", async () => {
    await lab("anna").made("PUT", "/api/v2/secrets/crm", { json: { value: "token" } });
    const headers = { authorization: "Bearer {{secret:crm}}" };
    const stealing = [{ type: "tool", id: "http_request", arguments: { headers, url: "http://127.0.0.1:9/" } }];
    const json = { name: "A", goal: "x", tools: [], model: "gantry/text" };
    const create = (by: Calls, more: object) => by.send("POST", "/v1/agents", { json: { ...json, ...more } });
    await refused(create(lab("mark"), { pricing: { per_run: 1 } }), 403, "change the price");
    await refused(create(lab("mark"), { visibility: "public" }), 403, "public agents");
    await refused(create(lab("mark"), { tools: stealing }), 403, "secrets of the team");
    const agent = (await create(lab("anna"), { tools: stealing })).body;
    const change = ({ id }: { id: string }, more: object) =>
      lab("mark").send("PATCH", `/v1/agents/${id}`, { json: more });
    await refused(change(agent, { goal: "Other." }), 403, "secrets of the team");
    await refused(change(agent, { tools: [] }), 403, "secrets of the team");
    const plain = (await create(lab("anna"), {})).body;
    expect((await change(plain, { goal: "Other." })).status).toBe(200);
    await refused(change(plain, { visibility: "public" }), 403, "public agents");
  });
});

describe("changes take effect at once, on every node", () => {
  const onBoth = async (call: (node: GantryNode) => Promise<unknown>) => [await call(gantry), await call(second)];
  const me = (key: string, team?: string) => (node: GantryNode) =>
    teamCalls(node)
      .as(key, team)
      .get("/api/v2/me")
      .then(({ status, body }) => (status === 200 ? body.team_role : status));
  const soon = (what: string, read: () => Promise<unknown[]>, expected: unknown) =>
    waitFor(what, async () => (await read()).every((one) => one === expected));

  test("a new role", async () => {
    const { key } = (await lab("mira").made("POST", "/api/v2/keys", { json: {} })).body;
    expect(await onBoth(me(key))).toEqual(["member", "member"]);
    const change = (role: string) => lab("olga").made("PATCH", "/api/v2/teams/lab/members/mira", { json: { role } });
    await change("admin");
    expect([await me(key)(gantry), await me(keys.mira, "lab")(gantry)]).toEqual(["admin", "admin"]);
    await soon("the second node to hear", () => onBoth(me(key)), "admin");
    await change("member");
    expect([await me(key)(gantry), await me(keys.mira, "lab")(gantry)]).toEqual(["member", "member"]);
  });

  test("a disabled person, whose keys of the team stop too", async () => {
    const { key } = (await lab("mira").made("POST", "/api/v2/keys", { json: {} })).body;
    expect(await onBoth(me(key))).toEqual(["member", "member"]);
    const disable = (disabled: boolean) => gantry.call("PATCH", "/api/v2/admin/users/mira", { json: { disabled } });
    await disable(true);
    expect([await me(key)(gantry), await me(keys.mira, "lab")(gantry)]).toEqual([401, 401]);
    await soon("the second node to hear", () => onBoth(me(key)), 401);
    await disable(false);
    expect(await me(key)(gantry)).toBe("member");
  });

  test("a disabled team", async () => {
    const disable = (disabled: boolean) => gantry.call("PATCH", "/api/v2/admin/users/lab", { json: { disabled } });
    const { key } = (await lab("mira").made("POST", "/api/v2/keys", { json: {} })).body;
    expect(await onBoth(me(key))).toEqual(["member", "member"]);
    await disable(true);
    expect([await me(key)(gantry), await me(keys.mira, "lab")(gantry)]).toEqual([401, 404]);
    await soon("the second node to hear", () => onBoth(me(keys.mira, "lab")), 404);
    await disable(false);
    expect([await me(key)(gantry), await me(keys.mira, "lab")(gantry)]).toEqual(["member", "member"]);
  });

  test("a removed member, whose keys are revoked", async () => {
    await calls.add("lab", "sam");
    const { key } = (await lab("sam").made("POST", "/api/v2/keys", { json: {} })).body;
    expect(await onBoth(me(keys.sam, "lab"))).toEqual(["member", "member"]);
    expect(await onBoth(me(key))).toEqual(["member", "member"]);
    await lab("anna").made("DELETE", "/api/v2/teams/lab/members/sam");
    expect([await me(key)(gantry), await me(keys.sam, "lab")(gantry)]).toEqual([401, 404]);
    await soon("the second node to hear", () => onBoth(me(keys.sam, "lab")), 404);
    expect(await me(keys.sam)(gantry)).toBe(null);
    // Keys of an earlier membership do not come back.
    await calls.add("lab", "sam");
    expect([await me(key)(gantry), await me(keys.sam, "lab")(gantry)]).toEqual([401, "member"]);
    await calls.as(keys.sam).made("DELETE", "/api/v2/teams/lab/members/sam");
  });
});
