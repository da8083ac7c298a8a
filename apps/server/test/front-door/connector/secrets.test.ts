import { describe, expect, test } from "vitest";
import { useRunsWithTenant } from "../../support/runs-with-tenant.ts";
import { inTurn } from "../../support/scripted-llm.ts";

const { t, tenant } = await useRunsWithTenant();

const action = (name: string, given: object = {}, confirm?: boolean) =>
  t.gantry.call("POST", `/v1/connectors/idp/actions/${name}`, { json: { arguments: given, confirm } });

/** Starts a run that makes one pre-approved call; returns its id. */
async function runOne(name: string, args: object): Promise<string> {
  t.llm.script = inTurn({ calls: [{ name, args }] }, { text: "done" });
  const { body, text } = await t.run(await t.makeAgent({ tools: [name] }), { approve: [name] });
  expect(body.status, text).toBe("done");
  return body.id;
}

describe("the confirmation of a write", () => {
  test.each([
    [
      "idp_connection_update",
      {
        id: "con_1",
        options: { customScripts: { login: "function evil() {}", change_password: "function too() {}" } },
      },
      ["function evil() {}", "function too() {}"],
    ],
    [
      "idp_client_update",
      { id: "cli_1", client_authentication_methods: { private_key_jwt: { credentials: [{ pem: "THEIR-KEY" }] } } },
      ["THEIR-KEY"],
    ],
    [
      "idp_client_create",
      { name: "c", client_authentication_methods: { private_key_jwt: { credentials: [{ pem: "THEIR-KEY" }] } } },
      ["THEIR-KEY"],
    ],
  ])("of %s shows values that are not secret", async (name, args, texts) => {
    t.llm.script = inTurn({ calls: [{ name, args }] }, { text: "done" });
    const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ tools: [name] }));
    for (const shown of texts) {
      expect(JSON.stringify(asked.arguments)).toContain(shown);
      expect(JSON.stringify(asked.details.body)).toContain(shown);
      if (name.endsWith("_update")) expect(JSON.stringify(asked.details.changes)).toContain(shown);
    }
    await t.answer(runId, asked.id, { approve: false });
    await t.ended(runId);
  });

  test("hides secrets, and values that the tenant's scripts may contain", async () => {
    const [connection] = tenant.state.collections.get("connections")?.items ?? [];
    Object.assign(connection?.options as object, { customScripts: { login: "const key = 'Kept-Key'" } });
    const options = {
      client_secret: "Sent-1-secret",
      configuration: { KEY: "Sent-2-secret" },
      signingKey: { key: "Sent-3-secret" },
      gateway_authentication: { method: "bearer", secret: "Sent-4-secret" },
      customScripts: { login: "const key = configuration.KEY" },
    };
    const asked = await action("idp_connection_update", { id: "con_1", options });
    expect(asked.status, asked.text).toBe(409);
    expect(asked.text).not.toMatch(/Sent-\d|Kept-Key|goog-secret|conf-secret/);
    const { old, new: wanted } = asked.body.error.details.changes.options;
    expect([old.customScripts, wanted.customScripts.login]).toEqual(["[hidden]", "const key = configuration.KEY"]);
    expect(wanted.gateway_authentication.method).toBe("bearer");
  });
});

describe("a secret that the tenant repeats in a success", () => {
  const made = { name: "a", supported_triggers: [{ id: "post-login" }], secrets: [{ name: "K", value: "S3cret" }] };

  test.each([
    ["idp_action_create", made, { id: "act_2", ...made, deployed_version: { secrets: made.secrets } }],
    [
      "idp_user_create",
      { connection: "db", email: "a@b.c", password: "S3cret" },
      { user_id: "auth0|x", note: "your password is S3cret" },
    ],
    ["idp_user_get", { id: "auth0|ann" }, { identities: [{ access_token: "S3cret" }], note: "with S3cret" }],
  ])("of %s reaches neither the model nor the events nor the caller", async (name, args, body) => {
    tenant.script.push({ status: 200, body }, { status: 200, body });
    const runId = await runOne(name, args);
    expect(t.told(1)[0]).toContain("[hidden]");
    const calls = await t.gantry.database.sql`select result from run_calls where run_id = ${runId}`;
    const shown = `${t.told(1)}${JSON.stringify(await t.events(runId))}${JSON.stringify(calls)}`;
    expect(shown).not.toContain("S3cret");
    const direct = await action(name, args, true);
    expect([direct.status, direct.text.includes("S3cret")]).toEqual([200, false]);
  });

  test("is not masked if it is too short to be recognised", async () => {
    tenant.script.push({ status: 201, body: { user_id: "auth0|x", name: "Ada", password: "a" } });
    const { body } = await action("idp_user_create", { connection: "db", email: "a@b.c", password: "a" }, true);
    expect(body.result).toEqual({ user_id: "auth0|x", name: "Ada", password: "[hidden]" });
  });
});

describe("the secret of a client", () => {
  const secretPath = /\/v1\/runs\/\S+\/secrets\/\S+/;

  test.each([
    ["idp_client_create", { name: "new" }],
    ["idp_client_rotate_secret", { id: "cli_1" }],
  ])("that %s creates is returned to the caller once and appears nowhere else", async (name, args) => {
    const body = { client_id: "cli_9", client_secret: "long-made-secret-4321", note: "new: long-made-secret-4321" };
    tenant.script.push({ status: 200, body }, { status: 200, body });
    const runId = await runOne(name, args);
    const [told = ""] = t.told(1);
    expect(told).toContain('"client_secret":"…4321"');
    expect(told).toContain('"note":"new: [hidden]"');
    expect(await t.everythingShown(runId)).not.toContain("long-made-secret");
    const path = secretPath.exec(told)?.[0] ?? "";
    const fetched = await t.gantry.call("GET", path);
    expect(fetched.body).toMatchObject({ field: "client_secret", value: "long-made-secret-4321" });
    expect((await t.gantry.call("GET", path)).status).toBe(404);
    const direct = await action(name, args, true);
    expect(direct.body.result).toEqual({ ...body, note: "new: [hidden]" });
    expect(direct.headers.get("cache-control")).toBe("no-store");
    const other = await action("idp_client_get", { id: "cli_1" });
    expect(other.headers.get("cache-control")).toBeNull();
  });

  test.each(["abc", "elevenchars"])("that is as short as %s is masked completely", async (secret) => {
    tenant.script.push({ status: 200, body: { client_id: "cli_1", client_secret: secret } });
    const runId = await runOne("idp_client_rotate_secret", { id: "cli_1" });
    const [told = ""] = t.told(1);
    expect(told).toContain('"client_secret":"[hidden]"');
    expect(told).not.toContain("ends in");
    expect(JSON.stringify(await t.events(runId))).not.toContain(secret.slice(-3));
    const fetched = await t.gantry.call("GET", secretPath.exec(told)?.[0] ?? "");
    expect(fetched.body).toMatchObject({ value: secret });
  });
});

test("a call of an unavailable action is reported without its secrets", async () => {
  const args = { connection: "db", email: "a@b.c", password: "Pass-Word-Secret" };
  const calls = [
    { name: "idp_user_create", args },
    { name: "idp_user_create", args: '{"password": "Pass-Word-Secret"' },
    { name: "idp_create_user", args },
    { name: "mail", args: { text: "as it is" } },
  ];
  t.llm.script = inTurn({ calls }, { text: "done" });
  const { body } = await t.run(await t.makeAgent({ tools: ["idp_roles_list"] }));
  const told = (await t.events(body.id)).filter(({ type }) => type === "tool_call");
  expect(told.map((event) => event.arguments)).toEqual([
    { ...args, password: "[hidden]" },
    { __invalid: "[hidden]" },
    { ...args, password: "[hidden]" },
    { text: "as it is" },
  ]);
});
