import { describe, expect, it } from "vitest";
import {
  claimAt,
  groupsOf,
  isAllowed,
  namesOnePerson,
  neededClaims,
  type OidcRules,
  planOf,
  roleOf,
  usernameOf,
} from "./oidc.rules.ts";

const rules: OidcRules = {
  name: "SSO",
  usernameClaim: "preferred_username",
  groupsClaim: "groups",
  adminGroups: [],
  planGroups: [],
  allowedGroups: [],
  allowedDomains: [],
  createsUsers: true,
  linksUsers: false,
  signsOut: true,
};
const named = (preferred_username: unknown) => usernameOf({ preferred_username }, rules);
const allowed = (claims: Record<string, unknown>, change: Partial<OidcRules>) => {
  const changed = { ...rules, ...change };
  return isAllowed(claims, groupsOf(claims, changed), changed);
};

describe("claims of a provider", () => {
  it("finds a claim by its name, or inside of another", () => {
    const claims = { realm_access: { roles: ["a"] }, "https://x.example/groups": ["b"] };
    expect(claimAt(claims, "realm_access.roles")).toEqual(["a"]);
    expect(claimAt(claims, "https://x.example/groups")).toEqual(["b"]);
    expect(claimAt(claims, "realm_access.none")).toBeUndefined();
    expect(claimAt(claims, "constructor.name")).toBeUndefined();
  });

  it.each([
    ["anna", "anna"],
    ["Anna.Smith@example.com", "anna-smith"],
    [" Anna Smith ", "anna-smith"],
    ["a", undefined],
    ["-anna", undefined],
    ["zoë", undefined],
    ["gantry", undefined],
    ["api@example.com", undefined],
    ["x".repeat(40), undefined],
    [["anna"], undefined],
    [undefined, undefined],
  ])("maps %j to the username %s", (claim, username) => {
    expect(named(claim)).toBe(username);
  });

  it("reads groups from a list or a single text, and ignores the rest", () => {
    expect([...groupsOf({ groups: ["a", 1, null, "b"] }, rules)]).toEqual(["a", "b"]);
    expect([...groupsOf({ groups: "a" }, rules)]).toEqual(["a"]);
    expect([...groupsOf({}, rules)]).toEqual([]);
  });

  it("lets in those of the groups and of a verified domain", () => {
    expect(allowed({}, {})).toBe(true);
    expect(allowed({ groups: ["b"] }, { allowedGroups: ["a"] })).toBe(false);
    expect(allowed({ groups: ["b", "a"] }, { allowedGroups: ["a"] })).toBe(true);
    const domains = { allowedDomains: ["example.com"] };
    expect(allowed({ email: "x@Example.com", email_verified: true }, domains)).toBe(true);
    expect(allowed({ email: "x@example.com" }, domains)).toBe(false);
    expect(allowed({ email: "x@example.com", email_verified: "true" }, domains)).toBe(false);
    expect(allowed({ email: "x@evil.example.com", email_verified: true }, domains)).toBe(false);
    expect(allowed({ email: "example.com@evil.org", email_verified: true }, domains)).toBe(false);
  });

  it("maps groups to a role and a plan", () => {
    const groups = new Set(["staff", "heavy"]);
    expect(roleOf(groups, rules)).toBeUndefined();
    expect(roleOf(groups, { ...rules, adminGroups: ["ops", "staff"] })).toBe("admin");
    expect(roleOf(groups, { ...rules, adminGroups: ["ops"] })).toBe("user");
    const planGroups = [
      { group: "heavy", plan: "pro" },
      { group: "*", plan: "free" },
    ];
    expect(planOf(groups, { ...rules, planGroups })).toBe("pro");
    expect(planOf(new Set(), { ...rules, planGroups })).toBe("free");
    expect(planOf(new Set(), rules)).toBeUndefined();
  });

  it("links by an e-mail address only if it is verified, and in one domain", () => {
    const links = (email_verified: unknown, allowedDomains: string[], usernameClaim = "email") =>
      namesOnePerson({ email: "anna@b.com", email_verified }, { ...rules, usernameClaim, allowedDomains });
    expect([links(true, ["b.com"]), links(undefined, [], "preferred_username")]).toEqual([true, true]);
    expect([links("true", ["b.com"]), links(true, []), links(true, ["a.com", "b.com"])]).toEqual([false, false, false]);
  });

  it("needs only what the rules read", () => {
    expect(neededClaims(rules)).toEqual(["preferred_username"]);
    const all = { ...rules, groupsClaim: "realm_access.roles", allowedGroups: ["a"], allowedDomains: ["b.example"] };
    expect(neededClaims(all)).toEqual(["preferred_username", "realm_access", "email", "email_verified"]);
  });
});
