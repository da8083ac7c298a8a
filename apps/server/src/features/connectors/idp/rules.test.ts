import { describe, expect, it } from "vitest";
import type { Fault } from "../../../kernel/errors.ts";
import { actions, readerOf, singleReaderOf } from "./action-table.ts";
import { checkArguments } from "./check-arguments.ts";
import { domainIssues, normaliseDomain } from "./configure-connector.ts";
import { cutForCaller, cutForModel } from "./cut-long-text.rules.ts";
import { hidden, maskRecords, scrubDeep, secretsIn } from "./mask.rules.ts";
import { spentUntil, waitBeforeRetry } from "./tenant-gate.ts";
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
    ["tenant.example.com.", "tenant.example.com."],
    ["my_idp:8443", "my_idp:8443"],
    ["a--b.example", "a--b.example"],
    ["127.0.0.1:8443", "127.0.0.1:8443"],
    ["[::1]:8443", "[::1]:8443"],
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
    "*",
    "-",
    "*.example.com",
    "a..b",
    ".",
    ".example.com",
    "tenant.example.com..",
    "-tenant.example.com",
    "tenant-.example.com",
    "tenant$.example.com",
    `${"a".repeat(64)}.example.com`,
    `${"a".repeat(300)}.com`,
  ])("refuses %j", (given) => {
    expect(domainIssues(given)).toEqual([expect.objectContaining({ type: "value_error", loc: ["body", "domain"] })]);
  });
});

describe("token claims", () => {
  const jwt = (claims: unknown) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;

  it("contain scopes and expiry, not verified", () => {
    expect(readClaims(jwt({ scope: "read:users  update:users read:users", exp: 1_800_000_000 }))).toEqual({
      scopes: ["read:users", "update:users"],
      expiresAt: new Date("2027-01-15T08:00:00Z"),
    });
    expect(readClaims(jwt({ scope: "" }))).toEqual({ scopes: [], expiresAt: null });
  });

  it("are empty for other text", () => {
    const nothing = { scopes: null, expiresAt: null };
    for (const token of ["opaque-token", "a.b.c", "e30.!!!.x", jwt([1]), jwt(null), jwt({ exp: "soon", scope: 3 })]) {
      expect(readClaims(token)).toEqual(nothing);
    }
  });

  it("ignore an expiry after the year 9999 and invalid scopes", () => {
    for (const exp of [253_402_300_800, 1e12, 1_800_000_000_000, 8.63e12, 1e300, 0, -1]) {
      expect(readClaims(jwt({ exp })).expiresAt).toBeNull();
    }
    const last = readClaims(jwt({ exp: 253_402_300_799, scope: "read:users a\u0000b read:\u00e4 read:roles" }));
    expect(last).toEqual({ scopes: ["read:users", "read:roles"], expiresAt: new Date("9999-12-31T23:59:59Z") });
  });

  it("warn an hour before the expiry and after it", () => {
    const end = new Date("2030-01-01T12:00:00Z");
    expect(expiryWarnings(null, end)).toEqual([]);
    expect(expiryWarnings(end, new Date("2030-01-01T10:59:59Z"))).toEqual([]);
    expect(expiryWarnings(end, new Date("2030-01-01T11:30:00Z"))[0]).toMatch(/expires in 30 min/);
    expect(expiryWarnings(end, end)[0]).toMatch(/expired at 2030-01-01T12:00:00.000Z.*PUT/);
  });

  it("show whether a scope is granted", () => {
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

  it("works for a record alone, in an array and in an envelope, without changing it", () => {
    const before = structuredClone(record);
    expect(maskRecords(record, paths)).toEqual(masked);
    expect(maskRecords([record, record], paths)).toEqual([masked, masked]);
    const envelope = maskRecords({ start: 0, total: 1, connections: [record], next: "x" }, paths);
    expect(envelope).toEqual({ start: 0, total: 1, connections: [masked], next: "x" });
    expect(record).toEqual(before);
    for (const plain of [null, "text", 7, []]) expect(maskRecords(plain, paths)).toEqual(plain);
  });

  it("hides texts under secret names, but not settings", () => {
    expect(maskRecords({ deep: { password: "p" }, refresh_token: { rotation_type: "rotating" } }, [])).toEqual({
      deep: { password: hidden },
      refresh_token: { rotation_type: "rotating" },
    });
  });

  it("recognises secret names and their exceptions", () => {
    const secrets = [
      { options: { gateway_authentication: { secret: "s" }, consumerSecret: "s", api_key: "s", bindPassword: "s" } },
      { azure_blob: { storageAccessKey: "s" }, azure_sb: { sasKey: "s" }, layer: { privateKey: "s" } },
      { wams: { masterkey: "s" }, sap_api: { servicePassword: "s" }, firebase: { private_key: "s" } },
      { body: { newPassword: "s", password_confirmation: "s", client_assertion: "s", refreshToken: "s" } },
      { headers: { authorization: "s", Cookie: ["s", "s"], "set-cookie": "s" }, twilio_token: "s", password_hash: "s" },
    ];
    expect(JSON.stringify(maskRecords(secrets, []))).not.toContain('"s"');
    const harmless = {
      token_endpoint_auth_method: "client_secret_post",
      passwordPolicy: "good",
      password_policy: "good",
      password_history: { enable: true, size: 5 },
      password_dictionary: { enable: true, dictionary: ["word"] },
      last_password_reset: "2026-01-01",
      passwordless_method: "code",
      change_password: "function (email, newPassword, done) {}",
      client_assertion_type: "urn:x",
      jwt_configuration: { secret_encoded: true },
      azure_sb: { sasKeyName: "n" },
      firebase: { private_key_id: "i" },
      private_key_jwt: { credentials: [{ id: "cred_1" }] },
      password: true,
      secret: 7,
      secrets: [{ name: "K" }],
    };
    expect(maskRecords(harmless, [])).toEqual(harmless);
  });

  it("finds sent secrets to remove them from the tenant's texts", () => {
    const secrets = secretsIn({ password: "hunter22", secrets: [{ name: "K", value: "val-ue" }] }, ["secrets[].value"]);
    expect(secrets).toEqual(["hunter22", "val-ue"]);
    expect(scrubDeep({ message: ["hunter22 is weak"] }, secrets)).toEqual({ message: [`${hidden} is weak`] });
  });

  it("removes many secrets from many texts in bounded time", () => {
    expect(scrubDeep(["x key-1 key-12key-1", 7], ["key-1", "key-12"])).toEqual([`x ${hidden} ${hidden}${hidden}`, 7]);
    const alike = Array.from({ length: 50_000 }, (_, at) => `${"a".repeat(20)}${at}`);
    const started = performance.now();
    const texts = scrubDeep(Array(100).fill("a".repeat(10_000)), alike) as string[];
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(texts.at(-1)).toBe(hidden);
  });

  it("stays fast with a long secret that almost matches everywhere", () => {
    const startedAt = performance.now();
    scrubDeep("a".repeat(4_000_000), [`${"a".repeat(1_000_000)}b`]);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  it("has a path for each secret of the vendor's records", () => {
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

  it("are cut in lists, with a mark that tells how to read them whole", () => {
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

  const get = action("idp_action_get");
  const forModel = (record: object) => cutForModel(get, record) as Record<string, string>;
  const notHere = "characters in all; too long to be read whole here, so it must not be written back]";

  it("are whole in a single record, for a model if they fit", () => {
    const longest = "c".repeat(63_900);
    for (const record of [{ code }, { code: longest }, { code, other: code }]) {
      expect(cutForCaller(get, record)).toEqual(record);
      expect(forModel(record)).toEqual(record);
    }
    expect(cutForCaller(get, { code: longest.repeat(2) })).toEqual({ code: longest.repeat(2) });
    // What counts is how long they are when they are written: a line end takes two characters, an ä two bytes.
    for (const text of ["\n".repeat(40_000), "ä".repeat(40_000)]) {
      const { code: cut } = forModel({ code: text });
      expect(cut).toBe(`${text.slice(0, 20_000)}… [cut: 40000 ${notHere}`);
    }
  });

  it("are cut in nested copies first", () => {
    const { code: own, deployed } = cutForModel(get, { code, deployed: { code: "d".repeat(40_000) } }) as {
      code: string;
      deployed: { code: string };
    };
    expect(own).toBe(code);
    expect(deployed.code).toBe(`${"d".repeat(20_000)}… [cut: 40000 ${notHere}`);
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`text${at}`, code]));
    expect(Buffer.byteLength(JSON.stringify(forModel(many)))).toBeLessThan(64_000);
    expect(forModel(many).text8).toMatch(/^c{1000}… /);
  });

  it("are marked as unreadable if a model cannot read them whole", () => {
    const long = "c".repeat(70_000);
    const list = { total: 2, actions: [{ code }, { code: long }] };
    const { actions: listed } = cutForModel(action("idp_actions_list"), list) as { actions: { code: string }[] };
    expect(listed.map((one) => one.code.slice(1000))).toEqual([
      "… [cut: 30000 characters in all; idp_action_get reads it whole]",
      `… [cut: 70000 ${notHere}`,
    ]);
    expect(JSON.stringify(cutForCaller(action("idp_actions_list"), list))).not.toContain(notHere);
    const written = cutForModel(action("idp_action_update"), { code: long }) as { code: string };
    expect(written.code.slice(1000)).toBe(`… [cut: 70000 ${notHere}`);
    expect(cutForModel(action("idp_email_templates_list"), [{ body: long }])).toEqual([
      { body: `${"c".repeat(1000)}… [cut: 70000 ${notHere}` },
    ]);
  });

  it("are refused in writes if they were cut; reads may contain them", () => {
    const { code: cut = "" } = forModel({ code: "c".repeat(70_000) });
    const { actions: listed } = cutForModel(action("idp_actions_list"), { actions: [{ code }] }) as {
      actions: { code: string }[];
    };
    const refused = (name: string, given: Record<string, unknown>) => {
      try {
        checkArguments(action(name), given);
      } catch (error) {
        return (error as Fault).issues.map(({ type, loc }) => [type, loc.slice(2).join(".")]);
      }
      return [];
    };
    expect(refused("idp_action_update", { id: "a", code: cut })).toEqual([["value_error", "code"]]);
    expect(refused("idp_action_update", { id: "a", code: `${listed[0]?.code} more` })).toEqual([
      ["value_error", "code"],
    ]);
    const options = { customScripts: { login: cut }, list: ["fine", cut] };
    expect(refused("idp_connection_update", { id: "c", options })).toEqual([
      ["value_error", "options.customScripts.login"],
      ["value_error", "options.list.1"],
    ]);
    expect(refused("idp_action_update", { id: "a", code: "// [cut: 3 characters]" })).toEqual([]);
    expect(refused("idp_users_list", { q: cut })).toEqual([]);
    // A placeholder must not be written back in place of the secret.
    const secrets = { client_secret: "[hidden]", name: "has [hidden] in it" };
    expect(refused("idp_connection_update", { id: "c", options: secrets })).toEqual([
      ["value_error", "options.client_secret"],
    ]);
  });

  it("never end in a lone surrogate", () => {
    const { x } = cutForCaller(action("idp_rules_list"), { x: `${"a".repeat(999)}😀${"b".repeat(9)}` }) as {
      x: string;
    };
    expect(x.isWellFormed()).toBe(true);
    expect(x).toMatch(/^a{999}… /);
  });
});

describe("the wait before a retry", () => {
  const now = 1_800_000_000_000;

  it("follows Retry-After, then the reset, then backoff", () => {
    const reset = { "x-ratelimit-reset": "1800000004" };
    expect(waitBeforeRetry({ "retry-after": "7", ...reset }, 0, now, 0)).toBe(7000);
    expect(waitBeforeRetry({ "retry-after": new Date(now + 9000).toUTCString() }, 0, now, 1)).toBe(9000);
    expect(waitBeforeRetry(reset, 3, now, 0)).toBe(4000);
    expect(waitBeforeRetry(reset, 3, now, 1)).toBeCloseTo(4800);
    expect(waitBeforeRetry({ "x-ratelimit-reset": "1700000000" }, 0, now, 0)).toBe(100);
    expect([0, 1, 2, 9].map((attempt) => waitBeforeRetry({}, attempt, now, 0))).toEqual([1000, 2000, 4000, 60_000]);
    expect(waitBeforeRetry({ "retry-after": "never" }, 0, now, 0)).toBe(1000);
  });

  it("shows when the limit is used up", () => {
    expect(spentUntil({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "12" })).toBe(12_000);
    expect(spentUntil({ "x-ratelimit-remaining": "1", "x-ratelimit-reset": "12" })).toBeUndefined();
    expect(spentUntil({})).toBeUndefined();
  });
});

it("finds the read action of each update and list", () => {
  const updates = actions.filter(({ method }) => method === "PATCH");
  expect(updates.map((update) => readerOf(update)?.name)).toEqual(
    updates.map(({ name }) => name.replace("_update", "_get")),
  );
  expect(singleReaderOf(action("idp_email_templates_list"))?.name).toBe("idp_email_template_get");
  expect(singleReaderOf(action("idp_user_permissions_list"))).toBeUndefined();
});
