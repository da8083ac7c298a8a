import { afterAll, describe, expect, test } from "vitest";
import { createSchemas } from "./ajv-schemas.ts";

const schemas = createSchemas();
afterAll(() => schemas.close());

const messages = async (found: ReturnType<typeof schemas.check>) =>
  (await found).map(({ path, message }) => `${path.join(".")}: ${message}`);

describe("check", () => {
  test.each([
    {},
    { type: "object", properties: { a: { type: "string", pattern: "^a+$" } }, required: ["a"] },
    { $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } }, $ref: "#/$defs/node" },
    { type: "array", prefixItems: [{ type: "string" }], items: false },
    { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" },
    { $schema: "http://json-schema.org/draft-07/schema#", type: "array", items: [{ type: "string" }] },
    { type: "string", format: "postcode", "x-order": 3, example: "an unknown keyword" },
    { $id: "https://json-schema.org/draft/2020-12/schema" },
    { $async: true, type: "object" },
  ])("accepts %j", async (schema) => {
    expect(await schemas.check(schema, "one")).toEqual([]);
  });

  test("reports every fault with its path", async () => {
    expect(
      await messages(schemas.check({ type: "objekt", properties: { a: { minLength: -1 }, b: { type: 3 } } }, "one")),
    ).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^type: must be one of/),
        "properties.a.minLength: must be at least 0",
        expect.stringMatching(/^properties\.b\.type: /),
      ]),
    );
  });

  test.each([
    [{ properties: { a: { pattern: "(" } } }, /pattern|regular expression/i],
    [{ $ref: "https://example.com/schema.json" }, /can't resolve reference/],
    [{ $ref: "#/$defs/missing" }, /can't resolve reference/],
    [{ $ref: "file:///etc/passwd" }, /can't resolve reference/],
    [{ $schema: "http://json-schema.org/draft-04/schema#" }, /^\$schema: Must be 2020-12/],
    [{ $schema: 7 }, /^\$schema: /],
    [{ required: "a" }, /required: must be of type array/],
    [{ items: [{ type: "string" }] }, /items: must be/],
  ])("refuses %j", async (schema, reason) => {
    expect((await messages(schemas.check(schema, "one"))).join("\n")).toMatch(reason);
  });

  test("refuses large and deep schemas without a thread", async () => {
    expect(await messages(schemas.check({ description: "x".repeat(70_000) }, "one"))).toEqual([
      ": A schema can have at most 65536 bytes of JSON",
    ]);
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 100_000; level++) deep = { not: deep };
    expect((await messages(schemas.check(deep, "one"))).join()).toMatch(/Nested more than 32 levels deep/);
  });

  test("schemas do not affect each other", async () => {
    expect(await schemas.check({ $id: "https://a.example/s", type: "string" }, "one")).toEqual([]);
    expect((await messages(schemas.check({ $ref: "https://a.example/s" }, "one"))).join()).toMatch(/can't resolve/);
    expect(await schemas.check({ $id: "https://a.example/s", type: "number" }, "one")).toEqual([]);
    expect(await schemas.validate({ $id: "https://a.example/s", type: "number" }, 3, "one")).toEqual([]);
  });

  test("more schemas than the cache holds", async () => {
    for (let number = 0; number < 230; number++) {
      expect(await schemas.validate({ const: number }, number, "one")).toEqual([]);
      expect(await messages(schemas.validate({ const: number }, -1, "one"))).toEqual([`: must be ${number}`]);
    }
  });
});

describe("validate loosely", () => {
  test.each([
    { $schema: "http://json-schema.org/draft-04/schema#", properties: { a: { minimum: 0, exclusiveMinimum: true } } },
    { $schema: "https://json-schema.org/draft/2019-09/schema" },
    { properties: { a: { pattern: "(?P<x>[a-z]+)" } } },
    { properties: { a: { type: "string", required: true } } },
    { properties: { a: { $ref: "#/nope" } } },
    { properties: { a: { type: "strng" } } },
    { properties: { a: { format: "uri" } } },
    { description: "x".repeat(70_000) },
  ])("an unusable schema reports no faults: %j", async (schema) => {
    expect(await schemas.validateLoosely(schema, { a: "not a uri" }, "one")).toEqual([]);
  });

  test("a usable schema reports faults, and strict checks stay strict", async () => {
    const schema = { type: "object", properties: { a: { type: "string", format: "uri" } } };
    expect(await messages(schemas.validateLoosely(schema, { a: 1 }, "one"))).toEqual(["a: must be of type string"]);
    expect(await schemas.validateLoosely(schema, { a: "no uri" }, "one")).toEqual([]);
    expect(await messages(schemas.validate(schema, { a: "no uri" }, "one"))).toEqual(["a: must be a valid uri"]);
    expect(await messages(schemas.validateLoosely({}, { a: Number.POSITIVE_INFINITY }, "one"))).toHaveLength(1);
  });

  test("a slow pattern reports no faults", async () => {
    const own = createSchemas({ deadlineMs: 300 });
    const schema = { properties: { a: { pattern: "^(a+)+$" } } };
    expect(await own.validateLoosely(schema, { a: `${"a".repeat(40)}!` }, "one")).toEqual([]);
    await own.close();
  });
});

describe("validate", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string", format: "email" }, list: { type: "array", items: { enum: [1, 2] } } },
    required: ["a"],
    additionalProperties: false,
  };

  test("a matching value has no faults and is not changed", async () => {
    const value = { a: "a@b.example", list: [1, 2] };
    expect(await schemas.validate({ ...schema, default: { b: 1 } }, value, "one")).toEqual([]);
    expect(value).toEqual({ a: "a@b.example", list: [1, 2] });
  });

  test("a number that is too large is a fault at any depth, in addition to others", async () => {
    const message = "must be a number between -1.79e308 and 1.79e308";
    const value = JSON.parse('{"n": 1e400, "free": [{"m": -1e400}, 1e300]}');
    const typed = { type: "object", properties: { n: { type: "number" } }, required: ["a"] };
    expect(await schemas.validate(typed, value, "one")).toEqual([
      { path: ["n"], message },
      { path: ["free", 0, "m"], message },
      { path: [], message: "must have the property a" },
    ]);
    expect(await schemas.validate({}, Number.POSITIVE_INFINITY, "one")).toEqual([{ path: [], message }]);
    const many = await schemas.validate({}, Array(10_000).fill(Number.NEGATIVE_INFINITY), "one");
    expect(many).toHaveLength(20);
  });

  test("reports every fault with its path", async () => {
    expect(await schemas.validate(schema, { list: [1, 5], "x/y": 1 }, "one")).toEqual(
      expect.arrayContaining([
        { path: [], message: "must have the property a" },
        { path: ["list", 1], message: "must be one of [1,2]" },
        { path: [], message: "must not have the property x/y" },
      ]),
    );
    expect(await messages(schemas.validate(schema, { a: "anyone" }, "one"))).toEqual(["a: must be a valid email"]);
    expect((await schemas.validate({ items: { type: "string" } }, Array(5000).fill(1), "one")).length).toBe(50);
  });

  test("a circular schema terminates", async () => {
    const endless = { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };
    expect((await messages(schemas.check(endless, "one"))).join()).toMatch(/Maximum call stack|Takes more than/);
    const found = await messages(schemas.validate({ $ref: "#" }, 1, "one"));
    expect(found.join()).toMatch(/Nested too deeply to be checked|Takes more than/);
  });

  test("a tree refers to its own schema", async () => {
    const tree = { type: "object", properties: { name: { type: "string" }, children: { items: { $ref: "#" } } } };
    expect(await schemas.validate(tree, { name: "a", children: [{ name: "b", children: [] }] }, "one")).toEqual([]);
    expect(await messages(schemas.validate(tree, { children: [{ children: [{ name: 1 }] }] }, "one"))).toEqual([
      "children.0.children.0.name: must be of type string",
    ]);
  });
});

describe("hostile", () => {
  // A backtracking engine tries 2^40 ways.
  const slow = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
  const value = { a: `${"a".repeat(40)}!` };

  test("a pattern that never ends stops at the deadline, delays no other check, and its value is refused for a while", async () => {
    const own = createSchemas({ deadlineMs: 1500, threads: 2 });
    let turns = 0;
    const ticking = setInterval(() => turns++, 5);
    const hostile = own.validate(slow, value, "one");
    const beside = await own.validate({ type: "string" }, "fine", "two");
    expect(beside).toEqual([]);
    expect(await messages(hostile)).toEqual([": Takes more than 1500 ms to check"]);
    expect(turns).toBeGreaterThan(3);
    clearInterval(ticking);

    // Each new check would take 1,500 ms, and a busy machine does not slow down all of them.
    const times: number[] = [];
    for (let n = 0; n < 5; n++) {
      const start = performance.now();
      expect(await messages(own.validate(slow, value, "one"))).toEqual([": Takes more than 1500 ms to check"]);
      times.push(performance.now() - start);
    }
    expect(Math.min(...times)).toBeLessThan(1500);
    await own.close();
  });

  test("after a slow value every other value of its schema is still checked, in full", async () => {
    const own = createSchemas({ deadlineMs: 2000, firstLookMs: 1 });
    expect(await messages(own.validate(slow, value, "one"))).toEqual([": Takes more than 2000 ms to check"]);
    const wrong = ['a: must match pattern "^(a+)+$"'];
    // Takes more than a first look (80 ms on an idle machine) and less than the deadline.
    expect(await messages(own.validate(slow, { a: `${"a".repeat(18)}!` }, "one"))).toEqual(wrong);
    expect(await own.validate(slow, { a: "aaa" }, "one")).toEqual([]);
    expect(await messages(own.validate(slow, { a: "b" }, "one"))).toEqual(wrong);
    await own.close();
  });

  test("a flood of slow values of one schema takes one thread, and its normal values are checked", async () => {
    const own = createSchemas({ deadlineMs: 2000, threads: 2 });
    await Promise.all([own.check({ title: "starts" }, "one"), own.check({ title: "both threads" }, "two")]);
    let refused = 0;
    const flood = Array.from({ length: 8 }, async (_, n) => {
      const faults = await own.validate(slow, { a: `${"a".repeat(40 + n)}!` }, "one");
      refused++;
      return faults;
    });
    const repeated = Array.from({ length: 8 }, () => own.validate(slow, value, "one"));
    const ends = Promise.allSettled([...flood, ...repeated]);
    expect(await own.validate({ type: "number" }, 1, "two")).toEqual([]);
    expect(refused).toBe(0);
    // Waits only for the short first looks at earlier values, not for their whole deadlines.
    expect(await own.validate(slow, { a: "aaa" }, "two")).toEqual([]);
    expect(refused).toBeLessThan(flood.length / 2);
    await own.close();
    for (const end of await ends) {
      if (end.status === "rejected") expect(String(end.reason)).toMatch(/shutting down|Too many schemas wait/);
      else expect(end.value).toEqual([{ path: [], message: "Takes more than 2000 ms to check" }]);
    }
  }, 120_000);

  test("too many waiting checks of one user are refused with a retryable fault, and only those", async () => {
    const own = createSchemas({ deadlineMs: 1000 });
    await own.validate(slow, value, "one");
    const flood = Array.from({ length: 1200 }, (_, n) => own.validate(slow, { a: `${"a".repeat(41)}!`, n }, "one"));
    const ends = Promise.allSettled(flood);
    await expect(Promise.race(flood)).rejects.toMatchObject({ type: "service_unavailable", retryable: true });
    expect(await own.validate({ type: "number" }, 1, "two")).toEqual([]);
    await own.close();
    await ends;
  });

  test("many slow schemas of one user all end, and another user's check runs before the second one", async () => {
    const own = createSchemas({ deadlineMs: 700, threads: 2 });
    const jobs = Array.from({ length: 3 }, (_, n) => own.validate({ ...slow, title: String(n) }, value, "one"));
    let ended = 0;
    for (const job of jobs) void job.then(() => ended++);
    expect(await own.validate({ type: "number" }, 1, "two")).toEqual([]);
    expect(ended).toBeLessThan(2);
    for (const faults of await Promise.all(jobs)) expect(faults).toHaveLength(1);
    await own.close();
  }, 60_000);

  test("a check that takes all memory ends only its thread", async () => {
    const own = createSchemas({ deadlineMs: 60_000, threads: 1 });
    const huge = { items: { anyOf: Array.from({ length: 300 }, (_, n) => ({ const: `${n}`.repeat(20) })) } };
    expect(await messages(own.validate(huge, Array(30_000).fill("x"), "one"))).toEqual([
      ": Takes too much memory to check",
    ]);
    expect(await own.validate({ type: "number" }, 1, "one")).toEqual([]);
    await own.close();
  }, 60_000);

  test("a value nested deeper than the stack is refused", async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(await messages(schemas.validate({}, { deep }, "one"))).toEqual([": Nested too deeply to be checked"]);
    expect(await schemas.validate({ type: "object" }, {}, "one")).toEqual([]);
  });

  test("names of the prototype are ordinary names", async () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"constructor":{"type":"string"}},"required":["toString"]}',
    );
    expect(await messages(schemas.validate(schema, { constructor: 1 }, "one"))).toEqual([
      ": must have the property toString",
      "constructor: must be of type string",
    ]);
  });

  test("closing refuses waiting checks", async () => {
    const own = createSchemas({ threads: 1, deadlineMs: 5000 });
    const first = own.validate(slow, value, "one");
    const second = own.validate({}, 1, "one");
    const both = Promise.all([
      expect(first).rejects.toThrow("shutting down"),
      expect(second).rejects.toThrow("shutting down"),
    ]);
    await own.close();
    await both;
    await expect(own.check({}, "one")).rejects.toMatchObject({ type: "service_unavailable" });
  });
});
