import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Fault } from "../../kernel/errors.ts";
import { digestOf, foreignKeyPair, hashOf, newKeyPair, publicPartsOf, sameHash } from "./key-format.rules.ts";
import { isConfined, keyReaches, mayAdministrate, mayManage, mayWiden, scopeOf } from "./key-reach.rules.ts";
import { readKeyRequest } from "./key-request.rules.ts";
import { hashPassword, verifyPassword } from "./password.ts";

describe("the form of a key", () => {
  it("is gk, 12 public characters and a secret, of which the hash is kept", () => {
    const pair = newKeyPair();
    expect(pair.key).toMatch(/^gk_[0-9a-z]{12}_[0-9a-z]{40}$/);
    expect(pair.public).toBe(pair.key.slice(3, 15));
    expect(pair.hash).toEqual(createHash("sha256").update(pair.key).digest());
    expect(newKeyPair().key).not.toBe(pair.key);
  });

  it("of the operator has the beginning of its hash as public part", () => {
    const key = "a-key-of-the-operator-with-40-characters";
    const hex = createHash("sha256").update(key).digest("hex");
    expect(foreignKeyPair(key)).toEqual({ key, public: hex.slice(0, 12), hash: Buffer.from(hex, "hex") });
    expect(publicPartsOf(key, digestOf(key))).toEqual([hex.slice(0, 12)]);
  });

  it("may be both, when the operator brings a key that was once printed", () => {
    const { key, public: own } = newKeyPair();
    expect(publicPartsOf(key, digestOf(key))).toEqual([own, foreignKeyPair(key).public]);
  });

  it.each(["", "x", "gk_", "gk_ABCDEFGHIJKL_x", "0123456789012345678901234567890"])("is not %j", (text) => {
    expect(publicPartsOf(text, digestOf(text))).toEqual([]);
  });

  it("compares hashes of equal and of unequal length", () => {
    const hash = hashOf(digestOf("one"));
    const lastByteOff = Buffer.from(hash);
    lastByteOff[31] = (lastByteOff[31] ?? 0) ^ 1;
    expect(sameHash(hash, hashOf(digestOf("one")))).toBe(true);
    expect(sameHash(hash, lastByteOff)).toBe(false);
    expect(sameHash(hash, hash.subarray(0, 31))).toBe(false);
  });
});

describe("what a key may give a key that it manages", () => {
  const open = { models: null, expiresAt: null, monthlyLimitMicros: null };
  const soon = new Date("2030-01-01T00:00:00Z");

  it.each([
    ["an open key: anything", open, open, true],
    ["a listed key: nothing, not even to itself", { ...open, models: ["x/a"] }, { ...open, models: ["x/a"] }, false],
    ["a key with a daily budget: nothing", { ...open, dailyLimitMicros: 0 }, { ...open, dailyLimitMicros: 0 }, false],
    ["a key with a limit of tokens: nothing", { ...open, tokensPerMinute: 1 }, { ...open, tokensPerMinute: 1 }, false],
    ["an ending key: an end with its own", { ...open, expiresAt: soon }, { ...open, expiresAt: soon }, true],
    ["an ending key: no longer life", { ...open, expiresAt: soon }, open, false],
  ])("%s", (_, own, target, allowed) => {
    expect(mayWiden(own, target)).toBe(allowed);
  });
});

describe("what a key may manage", () => {
  const open = { models: null, expiresAt: null, monthlyLimitMicros: null };
  const soon = new Date("2030-01-01T00:00:00Z");
  const later = new Date("2030-01-01T00:00:01Z");

  it.each([
    ["an open key: anything", { keyId: "a", ...open }, open, true],
    ["a listed key: no further key", { keyId: "a", ...open, models: ["x/a"] }, { ...open, models: ["x/a"] }, false],
    ["a listed key: itself", { keyId: "a", ...open, models: ["x/a"] }, { keyId: "a", ...open }, true],
    ["a listed key: not an open sibling", { keyId: "a", ...open, models: ["x/a"] }, { keyId: "b", ...open }, false],
    [
      "an ending key: one that ends with it",
      { keyId: "a", ...open, expiresAt: soon },
      { ...open, expiresAt: soon },
      true,
    ],
    ["an ending key: not a later end", { keyId: "a", ...open, expiresAt: soon }, { ...open, expiresAt: later }, false],
    ["an ending key: not an endless one", { keyId: "a", ...open, expiresAt: soon }, open, false],
    [
      "a key with a budget: no second budget",
      { keyId: "a", ...open, monthlyLimitMicros: 5 },
      { ...open, monthlyLimitMicros: 1 },
      false,
    ],
    ["a key with a budget: itself", { keyId: "a", ...open, monthlyLimitMicros: 5 }, { keyId: "a", ...open }, true],
  ])("%s", (_name, own, target, allowed) => {
    expect(mayManage(own, target)).toBe(allowed);
  });

  it("carries an admin's power unless it was narrowed or replaced", () => {
    const current = { ...open, graceEndsAt: null };
    expect(mayAdministrate(current)).toBe(true);
    expect(mayAdministrate({ ...current, expiresAt: soon })).toBe(true);
    expect(mayAdministrate({ ...current, models: ["x/a"] })).toBe(false);
    expect(mayAdministrate({ ...current, monthlyLimitMicros: 1 })).toBe(false);
    expect(mayAdministrate({ ...current, graceEndsAt: soon })).toBe(false);
  });
});

describe("the request for a key", () => {
  const now = new Date("2030-01-01T00:00:00Z");

  it("takes a time without a zone as UTC and the models as they stand", () => {
    const wanted = readKeyRequest(
      {
        name: " ci ",
        expires_at: "2030-01-01T00:00:01",
        models: ["a1/b", "a1/b"],
        monthly_limit: 2.5,
        daily_limit: 0.1,
      },
      now,
    );
    expect(wanted).toEqual({
      name: "ci",
      expiresAt: new Date("2030-01-01T00:00:01Z"),
      models: ["a1/b", "a1/b"],
      monthlyLimitMicros: 2_500_000,
      dailyLimitMicros: 100_000,
      tokensPerMinute: null,
      keepsInputs: true,
    });
  });

  it("takes an offset", () => {
    expect(readKeyRequest({ expires_at: "2030-01-01T01:00:00-02:00" }, now).expiresAt?.toISOString()).toBe(
      "2030-01-01T03:00:00.000Z",
    );
  });

  it("names everything that is wrong at once, a past expiry too", () => {
    const body = {
      name: "a\u0000b",
      expires_at: "2030-01-01T00:00:00Z",
      models: ["no", "Up/per"],
      monthly_limit: -1,
      x: 1,
    };
    let issues: unknown;
    try {
      readKeyRequest(body, now);
    } catch (error) {
      if (error instanceof Fault) issues = error.issues.map(({ type, loc }) => `${type} ${loc.join(".")}`).toSorted();
    }
    expect(issues).toEqual([
      "extra_forbidden body.x",
      "greater_than_equal body.monthly_limit",
      "value_error body.expires_at",
      "value_error body.models.0",
      "value_error body.models.1",
      "value_error body.name",
    ]);
  });
});

describe("a key with a list of models", () => {
  const open = { keyId: "key_1", models: null };
  const confined = { keyId: "key_1", models: ["x/a"] };

  it("is confined to them", () => {
    expect([isConfined(open), isConfined(confined)]).toEqual([false, true]);
    expect([keyReaches(open, "x/b"), keyReaches(confined, "x/a"), keyReaches(confined, "x/b")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("sees what it started, as any other key sees all of its user", () => {
    expect(scopeOf({ ...open, userId: "usr_1", team: null })).toEqual({ userId: "usr_1", onlyKeyIds: null });
    expect(scopeOf({ ...confined, userId: "usr_1", team: null })).toEqual({ userId: "usr_1", onlyKeyIds: "key_1" });
  });
});

describe("a password", () => {
  it("is stored salted, in a form that says how it was made, and verified", async () => {
    const [one, two] = await Promise.all([hashPassword("correct horse"), hashPassword("correct horse")]);
    expect(one).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect(one).not.toBe(two);
    expect(await verifyPassword("correct horse", one)).toBe(true);
    expect(await verifyPassword("correct horsf", one)).toBe(false);
    await expect(verifyPassword("x", "bcrypt$x")).rejects.toThrow("unknown form");
  });
});
