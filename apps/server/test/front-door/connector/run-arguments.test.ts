import { describe, expect, test } from "vitest";
import { useRunsWithTenant } from "../../support/runs-with-tenant.ts";
import { inTurn, type LlmAnswer } from "../../support/scripted-llm.ts";

const { t, tenant } = await useRunsWithTenant();

const call = (name: string, args: object | string = {}): LlmAnswer => ({ calls: [{ name, args }] });
const writes = () => tenant.seen.filter(({ method }) => method !== "GET");

/** The tool result of one pre-approved call. */
async function told(name: string, args: object | string): Promise<string> {
  t.llm.script = inTurn(call(name, args), { text: "done" });
  const done = await t.run(await t.makeAgent({ tools: [name] }), { approve: [name] });
  expect(done.body, done.text).toMatchObject({ status: "done" });
  expect(await t.confirmations(done.body.id)).toEqual([]);
  return t.told(1)[0] ?? "";
}

describe("texts that cannot be stored", () => {
  test.each([
    ["NUL", '{"name":"a\\u0000b"}'],
    ["half a character", '{"name":"a\\ud800b"}'],
    ["NUL in a name", '{"name":"ab","a\\u0000b":1}'],
  ])("are refused before a confirmation and before a call: %s", async (_, args) => {
    const agent = await t.makeAgent({ tools: ["idp_role_create"] });
    for (const approve of [[], ["idp_role_create"]]) {
      t.llm.requests.length = 0;
      t.llm.script = inTurn(call("idp_role_create", args), { text: "done" });
      const done = await t.run(agent, { approve });
      expect(done.body, done.text).toMatchObject({ status: "done" });
      expect(await t.confirmations(done.body.id)).toEqual([]);
      expect(t.told(1)[0]).toMatch(/(?=[\s\S]*cannot be stored)[\s\S]*not called/);
    }
    expect(tenant.seen).toEqual([]);
  });

  test("are refused in a direct call", async () => {
    for (const confirm of [false, true]) {
      const json = { arguments: { name: "a\0b" }, confirm };
      const { status, body } = await t.gantry.call("POST", "/v1/connectors/idp/actions/idp_role_create", { json });
      expect([status, body.error.type]).toEqual([400, "invalid_input"]);
      expect(body.error.message).toContain("arguments.name: NUL");
    }
    expect(tenant.seen).toEqual([]);
  });
});

describe("arguments that the tenant may reject", () => {
  test.each([
    ["idp_resource_server_create", { identifier: `https://${"a".repeat(652)}` }],
    ["idp_organization_create", { name: "o".repeat(60) }],
  ])("are sent with a warning: %s", async (name, args) => {
    const { result, warnings } = JSON.parse(await told(name, args));
    expect(result).toEqual(expect.any(Object));
    expect(warnings).toEqual([expect.stringContaining("the tenant may refuse it")]);
    expect(writes()).toMatchObject([{ body: args }]);
  });

  test("an empty update is reported", async () => {
    expect(await told("idp_user_update", { id: "auth0|ann" })).toMatch(/There is nothing to change[\s\S]*not called/);
    expect(tenant.seen).toEqual([]);
  });

  test("an invalid read is refused before its confirmation", async () => {
    const tools = [{ type: "tool", id: "idp_users_list", confirm: "always" }];
    t.llm.script = inTurn(call("idp_users_list", { per_page: 1000 }), { text: "done" });
    const done = await t.run(await t.makeAgent({ tools }));
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(t.told(1)[0]).toMatch(/^per_page: .*at most 100[\s\S]*not called/);
    expect(tenant.seen).toEqual([]);
  });
});

test("an integer without exact digits is not a page number", async () => {
  for (const page of ["1e21", "9007199254740993"]) {
    expect(await told("idp_users_list", `{"page":${page}}`)).toMatch(/^page: [\s\S]*not called/);
    t.llm.requests.length = 0;
  }
  expect(tenant.seen).toEqual([]);
});

describe("the mask of a rotated secret", () => {
  test("cannot be written back as a secret", async () => {
    for (const [name, args] of [
      ["idp_client_update", { id: "cli_1", client_secret: "…1000" }],
      ["idp_action_update", { id: "act_1", secrets: [{ name: "K", value: "…1000" }] }],
    ] as const) {
      expect(await told(name, args)).toMatch(/the placeholder of a secret[\s\S]*not called/);
      t.llm.requests.length = 0;
    }
    expect(tenant.seen).toEqual([]);
  });

  test("is ordinary text in other fields", async () => {
    await told("idp_role_update", { id: "rol_1", description: "…more" });
    expect(writes()).toMatchObject([{ body: { description: "…more" } }]);
  });
});

describe("a binding that fixes some values of an update", () => {
  const bound = async (id: string, fixed: object, args: object) => {
    t.llm.script = inTurn(call(id, args), { text: "done" });
    const agent = await t.makeAgent({ tools: [{ type: "tool", id, arguments: fixed }] });
    const done = await t.run(agent, { approve: [id] });
    expect(done.body, done.text).toMatchObject({ status: "done" });
    return t.offered(id)?.function.parameters as { required: string[]; minProperties?: number };
  };

  test.each([
    ["idp_user_update", { blocked: true }, { id: "auth0|ann" }, 1],
    ["idp_user_update", { id: "auth0|ann" }, { blocked: true }, 1],
    ["idp_role_update", { id: "rol_1", name: "new" }, {}, undefined],
    ["idp_client_update", { something_new: 1 }, { id: "cli_1" }, 1],
  ])("is accepted, and the model fills in the rest: %s %j", async (id, fixed, args, least) => {
    const offered = await bound(id, fixed, args);
    expect(offered.minProperties).toBe(least);
    const { id: _path, ...body } = { ...fixed, ...args } as Record<string, unknown>;
    expect(writes()).toMatchObject([{ body }]);
  });

  test("is refused if the values are invalid or the action has no others", async () => {
    for (const fixed of [{ blocked: "yes" }, { something_new: 1 }]) {
      const tools = [{ type: "tool", id: "idp_user_update", arguments: fixed }];
      const json = { name: "Wrong", goal: "Do it.", model: "admin/llm", tools };
      const { status, body } = await t.gantry.call("POST", "/v1/agents", { json });
      expect([status, body.error.type]).toEqual([400, "invalid_input"]);
    }
  });
});
