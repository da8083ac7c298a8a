import { describe, expect, it } from "vitest";
import { actions, readerOf, singleReaderOf } from "./action-table.ts";
import { cutForCaller, cutForModel } from "./cut-long-text.rules.ts";
import { hidden, maskRecords, scrubDeep, secretsIn } from "./mask.rules.ts";
import { spentUntil, waitBeforeRetry } from "./rate-limit.rules.ts";
import { domainIssues, normaliseDomain } from "./tenant-domain.rules.ts";
import { expiryWarnings, isAllowed, readClaims } from "./token-claims.rules.ts";

const action = (name: string) => {
  const found = actions.find((one) => one.name === name);
  if (!found) throw new Error(name);
  return found;
};

describe("a tenant's domain", () => {
  it.each([
    ["tenant.eu.example.com", "tenant.eu.example.com"],
    ["https://Tenant.Example.com/", "tenant.example.com"],
    ["HTTPS://tenant.example.com", "tenant.example.com"],
    ["tenant.example.com:8443", "tenant.example.com:8443"],
    ["tenant.example.com:443", "tenant.example.com"],
    [" tenant.example.com ", "tenant.example.com"],
    ["žluť.example", "xn--lu-yta1h.example"],
  ])("%s is %s", (given, expected) => {
    expect(domainIssues(given)).toEqual([]);
    expect(normaliseDomain(given)).toBe(expected);
  });

  it.each([
    "",
    "https://",
    "http://tenant.example.com",
    "ftp://tenant.example.com",
    "https://https://tenant.example.com",
    "tenant.example.com/api/v2",
    "tenant.example.com//",
    "tenant.example.com?x=1",
    "tenant.example.com#x",
    "user:word@tenant.example.com",
    "evil.example.com\\@tenant.example.com",
    "tenant example.com",
    "tenant.example.com\nx",
    "tenant%2eexample.com",
    "tenant.example.com:99999",
    "tenant.example.com:0",
    "tenant.example.com:abc",
    ":8443",
    `${"a".repeat(300)}.com`,
  ])("refuses %j", (given) => {
    expect(domainIssues(given)).toEqual([expect.objectContaining({ type: "value_error", loc: ["body", "domain"] })]);
  });
});

describe("what a token says", () => {
  const jwt = (claims: unknown) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;

  it("reads scopes and expiry without verifying", () => {
    expect(readClaims(jwt({ scope: "read:users  update:users read:users", exp: 1_800_000_000 }))).toEqual({
      scopes: ["read:users", "update:users"],
      expiresAt: new Date("2027-01-15T08:00:00Z"),
    });
    expect(readClaims(jwt({ scope: "" }))).toEqual({ scopes: [], expiresAt: null });
  });

  it("knows nothing of what is no such token", () => {
    const nothing = { scopes: null, expiresAt: null };
    for (const token of ["opaque-token", "a.b.c", "e30.!!!.x", jwt([1]), jwt(null), jwt({ exp: "soon", scope: 3 })]) {
      expect(readClaims(token)).toEqual(nothing);
    }
    expect(readClaims(jwt({ exp: 1e300 })).expiresAt).toBeNull();
  });

  it("warns an hour before the end and after it", () => {
    const end = new Date("2030-01-01T12:00:00Z");
    expect(expiryWarnings(null, end)).toEqual([]);
    expect(expiryWarnings(end, new Date("2030-01-01T10:59:59Z"))).toEqual([]);
    expect(expiryWarnings(end, new Date("2030-01-01T11:30:00Z"))[0]).toMatch(/expires in 30 min/);
    expect(expiryWarnings(end, end)[0]).toMatch(/expired at 2030-01-01T12:00:00.000Z.*PUT/);
  });

  it("tells whether one of the scopes is there", () => {
    expect(isAllowed(["read:users"], ["read:users", "read:current_user"])).toBe(true);
    expect(isAllowed(["read:roles"], ["read:users"])).toBe(false);
    expect(isAllowed(null, ["read:users"])).toBeNull();
  });
});

describe("masking", () => {
  const paths = ["[].options.client_secret", "[].options.configuration.*", "[].keys[].pkcs7", "[].details.**.token"];
  const record = {
    options: { client_secret: "a", configuration: { X: "b", Y: { deep: "c" } }, name: "n" },
    keys: [{ pkcs7: "d", subject: "s" }, { pkcs7: null }],
    details: { token: "e", request: [{ body: { token: "f", other: 1 } }] },
  };
  const masked = {
    options: { client_secret: hidden, configuration: { X: hidden, Y: hidden }, name: "n" },
    keys: [{ pkcs7: hidden, subject: "s" }, { pkcs7: null }],
    details: { token: hidden, request: [{ body: { token: hidden, other: 1 } }] },
  };

  it("holds for a record bare, in an array and in an envelope, and changes nothing in place", () => {
    const before = structuredClone(record);
    expect(maskRecords(record, paths)).toEqual(masked);
    expect(maskRecords([record, record], paths)).toEqual([masked, masked]);
    const envelope = maskRecords({ start: 0, total: 1, connections: [record], next: "x" }, paths);
    expect(envelope).toEqual({ start: 0, total: 1, connections: [masked], next: "x" });
    expect(record).toEqual(before);
    for (const plain of [null, "text", 7, []]) expect(maskRecords(plain, paths)).toEqual(plain);
  });

  it("hides texts under names that always mean a secret, but no settings of such a name", () => {
    expect(maskRecords({ deep: { password: "p" }, refresh_token: { rotation_type: "rotating" } }, [])).toEqual({
      deep: { password: hidden },
      refresh_token: { rotation_type: "rotating" },
    });
  });

  it("finds the secrets that were sent, to take them out of the tenant's own texts", () => {
    const secrets = secretsIn({ password: "hunter22", secrets: [{ name: "K", value: "val-ue" }] }, ["secrets[].value"]);
    expect(secrets).toEqual(["hunter22", "val-ue"]);
    expect(scrubDeep({ message: ["hunter22 is weak"] }, secrets)).toEqual({ message: [`${hidden} is weak`] });
  });

  it("has a path for each secret that the vendor's records hold", () => {
    for (const name of ["idp_clients_list", "idp_client_get", "idp_client_create", "idp_client_update"]) {
      const answer = maskRecords(
        {
          client_secret: "secret-1",
          signing_keys: [{ cert: "secret-2", pkcs7: "secret-3" }],
          encryption_key: { pub: "secret-4" },
          addons: { a: { secret: "secret-5" } },
        },
        action(name).redact_response ?? [],
      );
      expect(JSON.stringify(answer)).not.toMatch(/secret-\d/);
    }
  });
});

describe("long texts", () => {
  const code = "c".repeat(30_000);

  it("are cut in lists with a mark that says how to read them whole", () => {
    const list = cutForCaller(action("idp_actions_list"), { actions: [{ code, name: "short" }] }) as never;
    expect(list).toEqual({
      actions: [
        { code: `${"c".repeat(1000)}… [cut: 30000 characters in all; idp_action_get reads it whole]`, name: "short" },
      ],
    });
    expect(JSON.stringify(cutForModel(action("idp_user_logs_list"), [{ code }]))).toContain(
      "idp_log_get reads it whole",
    );
    expect(JSON.stringify(cutForCaller(action("idp_grants_list"), [{ code }]))).toContain("30000 characters in all]");
  });

  it("are whole in a single record, for a model up to a bound", () => {
    expect(cutForCaller(action("idp_action_get"), { code })).toEqual({ code });
    const { code: cut } = cutForModel(action("idp_action_get"), { code }) as { code: string };
    expect(cut).toMatch(/^c{20000}… \[cut: 30000 characters in all\]$/);
  });

  it("never end in half a character", () => {
    const { x } = cutForCaller(action("idp_rules_list"), { x: `${"a".repeat(999)}😀${"b".repeat(9)}` }) as {
      x: string;
    };
    expect(x.isWellFormed()).toBe(true);
    expect(x).toMatch(/^a{999}… /);
  });
});

describe("waiting", () => {
  const now = 1_800_000_000_000;

  it("goes by Retry-After, then by the reset, then by doubling", () => {
    const reset = { "x-ratelimit-reset": "1800000004" };
    expect(waitBeforeRetry({ "retry-after": "7", ...reset }, 0, now, 0)).toBe(7000);
    expect(waitBeforeRetry({ "retry-after": new Date(now + 9000).toUTCString() }, 0, now, 1)).toBe(9000);
    expect(waitBeforeRetry(reset, 3, now, 0)).toBe(4000);
    expect(waitBeforeRetry(reset, 3, now, 1)).toBeCloseTo(4800);
    expect(waitBeforeRetry({ "x-ratelimit-reset": "1700000000" }, 0, now, 0)).toBe(100);
    expect([0, 1, 2, 9].map((attempt) => waitBeforeRetry({}, attempt, now, 0))).toEqual([1000, 2000, 4000, 60_000]);
    expect(waitBeforeRetry({ "retry-after": "never" }, 0, now, 0)).toBe(1000);
  });

  it("knows when nothing is left", () => {
    expect(spentUntil({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "12" })).toBe(12_000);
    expect(spentUntil({ "x-ratelimit-remaining": "1", "x-ratelimit-reset": "12" })).toBeUndefined();
    expect(spentUntil({})).toBeUndefined();
  });
});

it("finds the read that belongs to each update, and to each list", () => {
  const updates = actions.filter(({ method }) => method === "PATCH");
  expect(updates.map((update) => readerOf(update)?.name)).toEqual(
    updates.map(({ name }) => name.replace("_update", "_get")),
  );
  expect(singleReaderOf(action("idp_email_templates_list"))?.name).toBe("idp_email_template_get");
  expect(singleReaderOf(action("idp_user_permissions_list"))).toBeUndefined();
});
