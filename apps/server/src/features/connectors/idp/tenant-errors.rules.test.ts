import { describe, expect, it } from "vitest";
import type { Fault } from "../../../kernel/errors.ts";
import { TenantRefusal } from "./call-tenant.ts";
import { actionOrThrow } from "./run-action.ts";
import { toActionFault } from "./tenant-errors.rules.ts";

const action = actionOrThrow("idp_organizations_list");

/** What a 403 of that body means for a token of these scopes. */
function meaning(body: unknown, tokenScopes: string[] | null): { message: string; missing: unknown } {
  const context = { action, domain: "t.example.com", tokenScopes, tokenWarnings: [], secrets: [] };
  const failure = toActionFault(new TenantRefusal(403, body), context) as Fault;
  const { msg: message, ctx } = failure.issues[0];
  return { message, missing: ctx?.missing_scopes };
}

const either = ["read:organizations", "read:organizations_summary"];
const silent: unknown[] = [null, {}, "<h1>Forbidden</h1>", { statusCode: 403, error: "Forbidden" }];

describe.each(silent)("a 403 without a reason: %j", (body) => {
  it("names a scope that the token lacks", () => {
    for (const scopes of [[], ["read:roles"]]) {
      const { message, missing } = meaning(body, scopes);
      expect(missing).toEqual(either);
      expect(message).toContain("The token lacks a scope: grant it one of read:organizations, ");
      expect(message).not.toMatch(/plan/);
    }
  });

  it("names the plan if the token has a scope", () => {
    for (const scope of either) {
      const { message, missing } = meaning(body, [scope]);
      expect(missing).toBeUndefined();
      expect(message).toMatch(/plan or settings/);
    }
  });

  it("names both if the token's scopes are unknown", () => {
    const { message, missing } = meaning(body, null);
    expect(missing).toBeUndefined();
    expect(message).toMatch(/may lack a scope \(read:organizations, .*plan or settings/);
  });
});

it("a 403 with another reason keeps it", () => {
  for (const scopes of [[], either, null]) {
    const { message, missing } = meaning({ message: "Upgrade", errorCode: "insufficient_entitlement" }, scopes);
    expect(missing).toBeUndefined();
    expect(message).toMatch(/plan or settings/);
    expect(message).not.toMatch(/scope/);
  }
});

/** What an answer means for a call of that action. */
function failureOf(name: string, status: number, body: unknown): Fault {
  const context = {
    action: actionOrThrow(name),
    domain: "t.example.com",
    tokenScopes: null,
    tokenWarnings: [],
    secrets: [],
  };
  return toActionFault(new TenantRefusal(status, body), context) as Fault;
}
const told = (...given: Parameters<typeof failureOf>) => failureOf(...given).issues[0].msg;

describe.each([408, 500, 503])("a %i", (status) => {
  it("leaves the outcome of a write unknown", () => {
    const failure = failureOf("idp_role_create", status, { message: "Too slow" });
    expect(failure.issues[0].ctx).toMatchObject({ status, outcome: "unknown" });
    expect(failure.issues[0].msg).toContain(
      "whether the change was made is unknown. Read the state before you repeat it",
    );
    expect(failure.retryable).toBe(false);
  });

  it("is retryable for a read", () => {
    const failure = failureOf("idp_roles_list", status, { message: "Too slow" });
    expect(failure.issues[0].msg).toContain("Try again later");
    expect(failure.issues[0].ctx).not.toHaveProperty("outcome");
    expect(failure.retryable).toBe(true);
  });
});

describe("sentences", () => {
  it("of the tenant end before ours begin", () => {
    expect(told("idp_role_create", 409, { message: "A role exists" })).toContain(
      "says: A role exists. The object exists already",
    );
    for (const message of ["It exists.", "Does it exist?", "It exists!"]) {
      expect(told("idp_role_create", 409, { message })).toContain(`says: ${message} The object exists already`);
    }
    expect(failureOf("idp_role_create", 409, { message: "A role exists" }).issues[0].ctx).toMatchObject({
      message: "A role exists",
    });
  });

  it("speak of an id where the action has one", () => {
    expect(told("idp_role_get", 404, { message: "No role" })).toContain("Check the id");
    for (const body of [{ message: "The connection does not exist" }, null]) {
      expect(told("idp_user_create", 404, body)).toMatch(/Check what the arguments name/);
      expect(told("idp_user_create", 404, body)).not.toMatch(/the id/);
    }
  });

  it("speak of a message where there is one", () => {
    expect(told("idp_role_create", 418, { message: "A teapot" })).toContain("as the message says");
    for (const body of [null, "<p>", {}]) {
      expect(told("idp_role_create", 418, body)).not.toMatch(/message/);
      expect(told("idp_role_create", 418, body)).toMatch(/does not say why/);
      expect(told("idp_user_create", 404, body)).not.toMatch(/message/);
    }
  });
});
