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

describe.each(silent)("a 403 that gives no reason: %j", (body) => {
  it("is the scope that the token is known to lack", () => {
    for (const scopes of [[], ["read:roles"]]) {
      const { message, missing } = meaning(body, scopes);
      expect(missing).toEqual(either);
      expect(message).toContain("The token lacks a scope: grant it one of read:organizations, ");
      expect(message).not.toMatch(/plan/);
    }
  });

  it("is the plan where the token has one of them", () => {
    for (const scope of either) {
      const { message, missing } = meaning(body, [scope]);
      expect(missing).toBeUndefined();
      expect(message).toMatch(/plan or settings/);
    }
  });

  it("is one or the other where nobody knows the token's scopes", () => {
    const { message, missing } = meaning(body, null);
    expect(missing).toBeUndefined();
    expect(message).toMatch(/may lack a scope \(read:organizations, .*plan or settings/);
  });
});

it("a 403 that names another reason is that, whatever the token's scopes", () => {
  for (const scopes of [[], either, null]) {
    const { message, missing } = meaning({ message: "Upgrade", errorCode: "insufficient_entitlement" }, scopes);
    expect(missing).toBeUndefined();
    expect(message).toMatch(/plan or settings/);
    expect(message).not.toMatch(/scope/);
  }
});
