import { describe, expect, test } from "vitest";
import { refusal } from "../../../src/features/connectors/idp/tenant-routes.fixture.ts";
import { allScopes } from "../../support/idp-connector.ts";
import { useRunsWithTenant } from "../../support/runs-with-tenant.ts";
import { inTurn } from "../../support/scripted-llm.ts";

const { t, tenant } = await useRunsWithTenant();

const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const deepAnswer = (levels: number, status = 200) => ({
  status,
  body: `{"message":${nested(levels)}}`,
  headers: { "content-type": "application/json" },
});
const action = (name: string, given: object = {}, confirm?: boolean) =>
  t.gantry.call("POST", `/v1/connectors/idp/actions/${name}`, { json: { arguments: given, confirm } });
const writes = () => tenant.seen.filter(({ method }) => method !== "GET");

interface Refused {
  type: string;
  message: string;
  details: { loc: string[] }[];
}

describe("deeply nested arguments", () => {
  const create = async (levels: number, confirm: boolean) => {
    const given = `{"connection":"db","email":"a@example.com","user_metadata":{"a":${nested(levels)}}}`;
    const response = await fetch(`${t.gantry.url}/v1/connectors/idp/actions/idp_user_create`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": t.gantry.adminKey },
      body: `{"arguments":${given},"confirm":${confirm}}`,
    });
    return { status: response.status, ...((await response.json()) as { error: Refused }) };
  };

  test.each([40, 6_000, 400_000])("are refused, at %i levels", async (levels) => {
    for (const confirm of [false, true]) {
      const { status, error } = await create(levels, confirm);
      expect([status, error.type], error.message).toEqual([400, "invalid_input"]);
      expect(error.message).toMatch(/^arguments\.user_metadata\.a\[0\].{1,100}…: Nested more than 40 levels deep$/);
      expect(error.details[0]?.loc.slice(0, 4)).toEqual(["body", "arguments", "user_metadata", "a"]);
    }
    expect(tenant.seen).toEqual([]);
  });

  test("are accepted up to the limit", async () => {
    expect((await create(36, false)).status).toBe(409);
    expect((await create(36, true)).status).toBe(200);
  });
});

describe("a deeply nested answer of the tenant", () => {
  test.each([2_000, 6_000, 400_000])("is an upstream error of a read, at %i levels", async (levels) => {
    tenant.script.push(deepAnswer(levels));
    const { status, body, text } = await action("idp_users_list");
    expect([status, body.error.type], text).toEqual([502, "upstream_error"]);
    expect(body.error.details).toMatchObject({ action: "idp_users_list", reason: "too_large" });
    expect(tenant.seen).toHaveLength(1);
  });

  test("to a write leaves its outcome unknown", async () => {
    tenant.script.push(deepAnswer(2_000));
    const { status, body, text } = await action("idp_role_create", { name: "new-role" }, true);
    expect([status, body.error.type], text).toEqual([502, "upstream_error"]);
    expect(body.error.details).toMatchObject({ outcome: "unknown" });
    expect(body.error.message).toContain("Read the state before you repeat it");
    expect(writes()).toHaveLength(1);
  });

  test("does not prevent the confirmation of an update", async () => {
    tenant.script.push(deepAnswer(6_000));
    const { status, body, text } = await action("idp_user_update", { id: "auth0|ann", name: "Ann" });
    expect([status, body.error.type], text).toEqual([409, "confirmation_required"]);
    expect(body.error.details.warnings).toEqual(["The current values could not be read"]);
  });

  test.each([400, 404])("with status %i is a refusal without details", async (code) => {
    tenant.script.push(deepAnswer(6_000, code));
    const { status, body, text } = await action("idp_action_deploy", { id: "act_1" }, true);
    expect([status, body.error.details?.status], text).toEqual([502, code]);
  });

  test("is reported to the model", async () => {
    t.llm.script = inTurn({ calls: [{ name: "idp_users_list", args: {} }] }, { text: "done" });
    tenant.script.push(deepAnswer(2_000));
    const done = await t.run(await t.makeAgent({ tools: ["idp_users_list"] }));
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(t.told(1)[0]).toContain("nested too deeply");
  });

  test("within the limit is passed on", async () => {
    tenant.script.push(deepAnswer(100));
    const { status, body, text } = await action("idp_user_get", { id: "auth0|ann" });
    expect(status, text).toBe(200);
    expect(body.result).toEqual({ message: JSON.parse(nested(100)) });
  });
});

test.each([
  [{ exp: 1_800_000_000_000 }, null],
  [{ exp: 1e12 }, null],
  [{ exp: 8.63e12 }, null],
  [{ scope: "read:users a\0b" }, ["read:users"]],
])("a token of the tenant is stored with any claims: %j", async (claims, scopes) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "RS256" })}.${part(claims)}.c2lnbmF0dXJl`;
  tenant.state.tokens.set(token, allScopes);
  const key = await t.gantry.newUser(`claims-${crypto.randomUUID().slice(0, 8)}`);
  const { status, body, text } = await t.gantry.call("PUT", "/v1/connectors/idp", {
    json: { domain: tenant.domain, token },
    key,
  });
  expect(status, text).toBe(200);
  expect(body).toMatchObject({ scopes, expires_at: null });
  expect((await t.gantry.call("GET", "/v1/connectors/idp", { key })).body).toEqual(body);
});

test("the confirmation of an update waits at most five seconds for a silent tenant", async () => {
  tenant.script.push("silence");
  const before = performance.now();
  const { status, body, text } = await action("idp_user_update", { id: "auth0|ann", name: "Ann" });
  expect(performance.now() - before).toBeLessThan(20_000);
  expect([status, body.error.type], text).toEqual([409, "confirmation_required"]);
  expect(body.error.details).toMatchObject({ body: { name: "Ann" } });
  expect(body.error.details.warnings).toEqual(["The current values could not be read in time"]);
});

describe("error details of the tenant", () => {
  const words = "jane.private@example.com";
  const linesOf = (requestId: string | null) =>
    t.gantry
      .logged()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .filter(({ level, request_id }) => level === 50 && request_id === requestId);

  test("go to the caller; the log has only the status", async () => {
    tenant.script.push(refusal(409, `The user ${words} already exists.`, "auth0_idp_error"));
    const { status, body, headers } = await action("idp_role_create", { name: "new-role" }, true);
    expect(status).toBe(502);
    expect(body.error.message).toContain(words);
    expect(body.error.details.message).toContain(words);
    expect(linesOf(headers.get("x-request-id"))).toMatchObject([
      { msg: "The tenant refused an action", err: { type: "TenantRefusal", status: 409 } },
    ]);
    expect(t.gantry.logged()).not.toContain(words);
  });

  test("are not logged for an answer that is not JSON", async () => {
    for (let n = 0; n < 3; n++) tenant.script.push({ status: 200, body: `${words} <html>` });
    const { status, headers } = await action("idp_users_list");
    expect(status).toBe(502);
    expect(linesOf(headers.get("x-request-id"))).toHaveLength(1);
    expect(t.gantry.logged()).not.toContain(words);
  });

  test("are not logged for calls over the MCP endpoint", async () => {
    tenant.script.push(refusal(400, `No ${words}`));
    const answer = await t.gantry.call("POST", "/mcp", {
      headers: { accept: "application/json, text/event-stream" },
      json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "idp_users_list", arguments: {} } },
    });
    expect(answer.text).toContain(words);
    expect(t.gantry.logged()).not.toContain(words);
  });
});
