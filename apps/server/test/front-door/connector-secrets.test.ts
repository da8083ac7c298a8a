import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunsWithTenant, startRunsWithTenant } from "../support/runs-with-tenant.ts";
import { inTurn } from "../support/scripted-llm.ts";

let runs: RunsWithTenant;
let t: RunsWithTenant["t"];
let tenant: RunsWithTenant["tenant"];

beforeAll(async () => {
  runs = await startRunsWithTenant();
  ({ t, tenant } = runs);
});
afterAll(() => runs.close());
beforeEach(() => runs.forget());
afterEach(() => {
  expect(tenant.script.splice(0)).toEqual([]);
});

const action = (name: string, given: object = {}, confirm?: boolean) =>
  t.gantry.call("POST", `/v1/connectors/idp/actions/${name}`, { json: { arguments: given, confirm } });

describe("the question before a write", () => {
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
  ])("of %s shows what is no secret", async (name, args, texts) => {
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

  test("hides what is one, and what the tenant's own scripts may hold", async () => {
    const [connection] = tenant.state.collections.get("connections")?.items ?? [];
    Object.assign(connection?.options as object, { customScripts: { login: "const key = 'Kept-Key'" } });
    const options = {
      client_secret: "Sent-1-secret",
      configuration: { KEY: "Sent-2-secret" },
      signingKey: { key: "Sent-3-secret" },
      customScripts: { login: "const key = configuration.KEY" },
    };
    const asked = await action("idp_connection_update", { id: "con_1", options });
    expect(asked.status, asked.text).toBe(409);
    expect(asked.text).not.toMatch(/Sent-\d|Kept-Key|goog-secret|conf-secret/);
    const { old, new: wanted } = asked.body.error.details.changes.options;
    expect([old.customScripts, wanted.customScripts.login]).toEqual(["[hidden]", "const key = configuration.KEY"]);
  });
});
