import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type IdpUnderTest, idpUnderTest } from "../../../../test/support/idp-connector.ts";
import { Fault } from "../../../kernel/errors.ts";
import { actionCases } from "./action-table.fixture.ts";
import { actions } from "./action-table.ts";
import { tenantState } from "./tenant-routes.fixture.ts";

let t: IdpUnderTest;
let token = "";
beforeAll(async () => {
  t = await idpUnderTest();
  token = await t.configure();
});
afterAll(() => t.close());
beforeEach(() => {
  const { tokens } = t.tenant.state;
  t.tenant.state = { ...tenantState(), tokens };
});
afterEach(() => {
  t.tenant.seen.length = 0;
});

async function refusedWith(name: string, given: Record<string, unknown>): Promise<Fault> {
  const error = await t.idp.runAction(t.userId, name, given).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error, `${name} ${JSON.stringify(given)}`).toBeInstanceOf(Fault);
  return error as Fault;
}

it("has the 59 actions of the specification and one more", () => {
  expect(Object.fromEntries(actions.map(({ name, method, path }) => [name, `${method} ${path}`]))).toEqual(
    Object.fromEntries(Object.entries(actionCases).map(([name, { specified }]) => [name, specified])),
  );
  expect(actions).toHaveLength(60);
  expect(actions.filter(({ kind }) => kind === "read")).toHaveLength(26);
  for (const { kind, method } of actions) expect(kind === "read").toBe(method === "GET");
});

describe.each(Object.entries(actionCases))("%s", (name, { given, sent, query, body }) => {
  it("sends the right call and succeeds", async () => {
    const outcome = await t.idp.runAction(t.userId, name, given);
    const [first, ...more] = t.tenant.seen;
    expect(`${first?.method} ${first?.path}`).toBe(sent.replace(" ", " /api/v2"));
    expect(first?.query.map((pair) => pair.join("=")).join("&")).toBe(query ?? "");
    expect(first?.body).toEqual(body);
    expect(first?.authorization).toBe(`Bearer ${token}`);
    expect(first?.contentType).toBe(body === undefined ? undefined : "application/json");
    expect(more).toHaveLength(name === "idp_email_templates_list" ? 13 : 0);
    expect(outcome).toHaveProperty("forModel.result");
    expect(outcome).toHaveProperty("forCaller.result");
  });

  it("refuses wrong arguments before anything is sent", async () => {
    const action = actions.find((one) => one.name === name);
    const required = [...(action?.path_params ?? []).map((one) => one.name), ...(action?.body?.required ?? [])];
    for (const field of required) {
      const { [field]: _left, ...rest } = given;
      expect((await refusedWith(name, rest)).issues).toContainEqual(
        expect.objectContaining({ type: "missing", loc: ["body", "arguments", field] }),
      );
    }
    for (const { name: field } of action?.path_params ?? []) {
      for (const value of [".", "..", "", 7, null, "\ud800"]) {
        const { issues } = await refusedWith(name, { ...given, [field]: value });
        expect(issues[0].loc).toEqual(["body", "arguments", field]);
      }
    }
    if (action?.body?.additionalProperties !== true) {
      expect((await refusedWith(name, { ...given, surprise: 1 })).issues).toEqual([
        { type: "extra_forbidden", loc: ["body", "arguments", "surprise"], msg: "Unknown field" },
      ]);
    }
    if (action?.method === "PATCH") {
      const only = Object.fromEntries(action.path_params.map((one) => [one.name, given[one.name]]));
      expect((await refusedWith(name, only)).message).toMatch(/nothing to change/);
    }
    for (const { name: field, type } of action?.query_params ?? []) {
      const wrong = type === "string" ? 1 : "wrong";
      expect((await refusedWith(name, { ...given, [field]: wrong })).issues[0].loc).toContain(field);
    }
    expect(t.tenant.seen).toEqual([]);
  });
});

it("reports all issues of the arguments at once", async () => {
  const { issues } = await refusedWith("idp_user_create", {
    email: "nowhere",
    blocked: "yes",
    phone_number: "12",
    wat: 1,
  });
  expect(issues.map(({ type, loc }) => `${type} ${loc.at(-1)}`).sort()).toEqual([
    "bool_parsing blocked",
    "extra_forbidden wat",
    "missing connection",
    "value_error email",
    "value_error phone_number",
  ]);
  const nested = await refusedWith("idp_resource_server_create", { identifier: "x", scopes: [{ value: "a" }, {}] });
  expect(nested.issues).toEqual([
    { type: "missing", loc: ["body", "arguments", "scopes", 1, "value"], msg: "Field required" },
  ]);
  const long = await refusedWith("idp_users_list", { q: "x".repeat(5000) });
  expect(long.issues[0]).toMatchObject({ type: "string_too_long", loc: ["body", "arguments"] });
});

it("describes both calls if the real API differs, and the end of rules", () => {
  const description = (name: string) => t.idp.describeTools().find(({ id }) => id === name)?.description ?? "";
  expect(description("idp_client_rotate_secret")).toMatch(
    /POST \/clients\/\{id\}\/rotate;.*POST \/clients\/\{id\}\/rotate-secret/,
  );
  expect(description("idp_email_templates_list")).toMatch(
    /GET \/email-templates,.*GET \/email-templates\/\{templateName\}/,
  );
  expect(description("idp_action_deploy")).toMatch(/binds the action to a flow.*only publishes a version/);
  expect(description("idp_rule_get")).toMatch(/^Reads one legacy rule\. Deprecated/);
  for (const action of actions) {
    const { path } = action.upstream ?? action;
    expect(description(action.name).includes(`called as ${action.upstream?.method} ${path}`)).toBe(
      path !== action.path && !action.upstream?.emulated,
    );
  }
});
