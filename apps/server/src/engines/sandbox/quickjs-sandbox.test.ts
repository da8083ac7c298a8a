import { afterAll, describe, expect, test } from "vitest";
import { createQuickjsSandbox } from "./quickjs-sandbox.ts";

const sandbox = createQuickjsSandbox({ cpuMs: 400, wallMs: 15_000 });
afterAll(() => sandbox.close());

const { signal } = new AbortController();
const userId = "usr_a";
const run = (code: string, input?: unknown) => sandbox.run(code, { userId, input, signal });
const resultOf = async (code: string, input?: unknown) => {
  const result = await run(code, input);
  return result.ok ? result.value : `failed: ${result.error}`;
};
const errorOf = async (code: string) => {
  const result = await run(code);
  expect(result.ok).toBe(false);
  return result.ok ? "" : result.error;
};
const tooLong = "The program took more than 0.4 s of processor time and was stopped";

describe("the value", () => {
  test.each([
    ["1 + 1", "2"],
    ["const list = [1, 2]; list.map((n) => n * 2)", "[2,4]"],
    ["for (let i = 0; i < 3; i++) i", "2"],
    ["'a\"b'", '"a\\"b"'],
    ["", "undefined"],
    ["let x = 1", "undefined"],
    ["null", "null"],
    ["NaN", "NaN"],
    ["2n ** 64n", "18446744073709551616n"],
    ["({ big: 2n, map: new Map([[1, 2]]), set: new Set('ab') })", '{"big":"2","map":[[1,2]],"set":["a","b"]}'],
    ["new Date(0)", '"1970-01-01T00:00:00.000Z"'],
    ["function twice(n) { return 2 * n }\ntwice", "[function twice]"],
    ["eval('2 + 3')", "5"],
  ])("of %s is %s", async (code, value) => {
    expect(await resultOf(code)).toBe(value);
  });

  test.each([
    ["await Promise.resolve(5)", "5"],
    ["const a = await 3; a + 1", "4"],
    ["Promise.resolve({ a: 1 })", '{"a":1}'],
    ["async function main() { await null; return 'done' }\nmain()", '"done"'],
    ["let n = 0; for (let i = 0; i < 1000; i++) await null, n++; n", "1000"],
    ["({ then(give) { give(7) } })", "7"],
  ])("is awaited: %s", async (code, value) => {
    expect(await resultOf(code)).toBe(value);
  });

  test("a program may be the body of a function", async () => {
    expect(await resultOf("const x = 4;\nreturn x * 2")).toBe("8");
    expect(await resultOf("if (true) { return await Promise.resolve(1) } // and a comment")).toBe("1");
  });

  test("input is a global", async () => {
    expect(
      await resultOf("input.list.length + input.__proto__.x", JSON.parse('{"list":[1,2],"__proto__":{"x":3}}')),
    ).toBe("5");
    expect(await resultOf("input", null)).toBe("null");
    expect(await errorOf("input")).toContain("ReferenceError: 'input' is not defined");
  });

  test("is cut and marked", async () => {
    const value = await resultOf("'x'.repeat(5e6)");
    expect(value).toMatch(/^"x+ \[cut: 5000002 characters in all\]$/);
    expect(value.length).toBeLessThan(66_000);
  });

  test("is text that can be stored", async () => {
    const result = await run("console.log('a\\0b\\ud800c'); throw 'a\\0b\\ud800c'");
    expect(result).toEqual({ ok: false, error: "Thrown: a\uFFFDb\uFFFDc", logs: "a\uFFFDb\uFFFDc" });
  });
});

describe("errors", () => {
  test.each([
    ["throw new TypeError('no')", /^TypeError: no\n {4}at <eval> \(program\.js:1:20\)/],
    ["await Promise.reject(new Error('later'))", /^Error: later/],
    ["(", /^SyntaxError: .*\n {4}at program\.js:1:2/],
    ["throw 'plain'", /^Thrown: plain$/],
    ["throw { code: 3 }", /^Thrown: {"code":3}$/],
    ["missing()", /^ReferenceError: 'missing' is not defined/],
    ["const a = {}; a.a = a; a", /^The value of the last expression cannot be written as JSON: TypeError: circular/],
    ["new Promise(() => {})", /^The program waits for a promise that never settles$/],
    ["throw new Error('x'.repeat(1e6))", /^Error: x+ \[cut: 1000007 characters in all\]/],
  ])("%s", async (code, error) => {
    const told = await errorOf(code);
    expect(told).toMatch(error);
    expect(told.length).toBeLessThan(4100);
  });

  test("a program that is too long or contains NUL", async () => {
    expect(await errorOf("1\0; 2")).toBe("The program contains a NUL character");
    expect(await errorOf(" ".repeat(1_000_001))).toBe("A program can have at most 1000000 characters");
    expect(await run("1", { input: "x".repeat(5e6) })).toMatchObject({ ok: false });
  });
});

describe("logs", () => {
  test("are returned with values and with errors", async () => {
    expect(
      await run("console.log('a', 1, { b: [2n] }, undefined); console.warn(new RangeError('r').message); 7"),
    ).toEqual({
      ok: true,
      value: "7",
      logs: 'a 1 {"b":["2"]} undefined\nr',
    });
    expect(await run("console.info('before'); throw 1")).toEqual({ ok: false, error: "Thrown: 1", logs: "before" });
    expect(await run("const a = {}; a.a = a; console.log(a)")).toMatchObject({ logs: "[cannot be shown]" });
  });

  test("are bounded", async () => {
    for (const code of [
      "for (let i = 0; i < 20000; i++) console.log('line', i)",
      "console.log('y'.repeat(1e6), 'z')",
    ]) {
      const { logs } = await run(code);
      expect(logs).toMatch(/\n\[cut: the program logged more\]$/);
      expect(logs.length).toBeLessThan(16_500);
    }
  });
});

describe("hostile programs", () => {
  test.each([
    "while (true) {}",
    "Promise.resolve().then(() => { while (true) {} })",
    "const again = () => { Promise.resolve().then(again) }; again()",
    "try { while (true) {} } catch {} finally { while (true) {} }",
    "/(a+)+$/.test('a'.repeat(40) + '!')",
    "({ toJSON() { for (;;); } })",
    "throw { toString() { for (;;); }, toJSON() { for (;;); } }",
    "throw Object.defineProperty(new Error(), 'stack', { get() { for (;;); } })",
    "console.log({ get a() { for (;;); } })",
    "({ then() { for (;;); } })",
  ])("that never ends: %s", async (code) => {
    expect(await errorOf(code)).toBe(tooLong);
  });

  test("one that the interpreter cannot stop is ended with its thread, and the next has another", async () => {
    const own = createQuickjsSandbox({ cpuMs: 400, wallMs: 2_000, threads: 1 });
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 20);
    const endless = "const list = []; list.length = 4294967295; list.sort()";
    expect(await own.run(endless, { userId, signal })).toMatchObject({ ok: false, error: tooLong });
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(5);
    expect(await own.run("1 + 1", { userId, signal })).toMatchObject({ value: "2" });
    await own.close();
  });

  test.each([
    "const a = []; for (;;) a.push(new Array(1000).fill(1))",
    "'x'.repeat(500e6)",
    "new Uint8Array(1e9)",
    "let s = 'x'; for (;;) s += s",
    "let n = 2n; for (;;) n = n * n",
    "'a'.padEnd(3e8)",
    "[].fill.call({ length: 2 ** 53 - 1 }, 1)",
  ])("that takes all memory: %s", async (code) => {
    expect(await errorOf(code)).toMatch(/memory|too long|too large|was stopped/);
    expect(await resultOf("1 + 1")).toBe("2");
  });

  test.each([
    "(function deeper() { deeper() })()",
    "async function deeper() { await deeper() }; deeper()",
    "eval('('.repeat(200000))",
    "JSON.parse('['.repeat(200000))",
    "let o = {}; for (let i = 0; i < 20000; i++) o = { o }; o",
  ])("that recurses for ever: %s", async (code) => {
    expect(await errorOf(code)).toMatch(/stack overflow|nests too deeply|cannot be written as JSON|was stopped/);
    expect(await resultOf("1 + 1")).toBe("2");
  });

  test("only the language is available", async () => {
    const names = ["fetch", "require", "process", "setTimeout", "std", "os", "WebAssembly", "Worker", "emit", "Buffer"];
    expect(await resultOf(`[${names.map((name) => `typeof ${name}`)}].join()`)).toBe(
      JSON.stringify(names.map(() => "undefined").join()),
    );
    expect(await resultOf("Object.keys(globalThis).join()")).toBe('"console"');
    for (const name of ["fs", "std", "os", "node:fs", "./program.js", "/etc/passwd"]) {
      expect(await errorOf(`await import('${name}')`)).toMatch(/could not load module/);
    }
    expect(await errorOf("import fs from 'fs'")).toMatch(/SyntaxError/);
  });

  test("changed built-in objects affect only the program itself", async () => {
    const tricks = [
      "JSON.stringify = String.prototype.slice = Array.from = Function.prototype.call = Function.prototype.bind = null",
      "Promise = Map = Set = Error = undefined",
      "Object.prototype.toString = Object.prototype.valueOf = null",
      "Object.freeze(globalThis)",
    ].join(";");
    expect(await resultOf(`${tricks}; console.log('still'); ({ a: await 2 })`)).toBe('{"a":2}');
    expect(await run("globalThis.console = null; 3")).toEqual({ ok: true, value: "3", logs: "" });
    // A trick that affects how the prelude reads the value only makes the text wrong.
    expect(await resultOf("Object.prototype.toJSON = () => 'mine'; ({})")).toBe('"mine"');
    expect(await errorOf("class Odd extends Error { get message() { throw 1 } }; throw new Odd()")).toMatch(
      /cannot be shown/,
    );
    expect(await resultOf("typeof JSON.stringify + typeof Promise + ({})")).toBe('"functionfunction[object Object]"');
  });

  test("nothing remains for the next program", async () => {
    await run("globalThis.secret = 1; Array.prototype.secret = 2; const kept = 3");
    expect(await resultOf("[typeof secret, [].secret, typeof kept]")).toBe('["undefined",null,"undefined"]');
  });
});

describe("many at once", () => {
  test("of a thousand programs some are refused and all others answered", async () => {
    const runs = Array.from({ length: 1000 }, (_, n) => run(`${n} * 2`));
    const ends = await Promise.allSettled(runs);
    const answered = ends.flatMap((end, n) => (end.status === "fulfilled" ? [[n, end.value] as const] : []));
    expect(answered.length).toBeGreaterThanOrEqual(256);
    for (const [n, result] of answered) expect(result).toEqual({ ok: true, value: String(n * 2), logs: "" });
    for (const end of ends) {
      if (end.status === "rejected") expect(end.reason).toMatchObject({ type: "service_unavailable", retryable: true });
    }
  });

  test("an abort stops a running program, frees its thread and removes a waiting one", async () => {
    const own = createQuickjsSandbox({ cpuMs: 60_000, threads: 1, maxWaiting: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const running = own.run("for (;;);", { userId, signal: first.signal });
    const waiting = own.run("1", { userId, signal: second.signal });
    await expect(own.run("2", { userId, signal })).rejects.toMatchObject({ type: "service_unavailable" });
    second.abort(new Error("second thoughts"));
    await expect(waiting).rejects.toThrow("second thoughts");
    const last = own.run("3", { userId, signal });
    first.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    expect(await last).toEqual({ ok: true, value: "3", logs: "" });
    await expect(own.run("1", { userId, signal: first.signal })).rejects.toThrow("enough");
    await own.close();
  });

  test("programs of one user leave a thread and the queue to others", async () => {
    const own = createQuickjsSandbox({ cpuMs: 60_000, threads: 2, maxWaiting: 3 });
    const leaving = new AbortController();
    const ends = Promise.allSettled(
      Array.from({ length: 10 }, () => own.run("for (;;);", { userId, signal: leaving.signal })),
    );
    const others = ["usr_b", "usr_c", "usr_d", "usr_e"];
    const answers = await Promise.all(others.map((one) => own.run("1 + 1", { userId: one, signal })));
    for (const answer of answers) expect(answer).toEqual({ ok: true, value: "2", logs: "" });
    leaving.abort(new Error("enough"));
    const reasons = (await ends).map((end) => (end.status === "rejected" ? end.reason.message : "answered"));
    expect(reasons.filter((reason) => reason === "enough")).toHaveLength(4);
    expect(reasons.filter((reason) => reason.startsWith("Too many programs of the same user"))).toHaveLength(6);
    await own.close();
  });

  test("closing stops running programs and refuses waiting ones", async () => {
    const own = createQuickjsSandbox({ cpuMs: 60_000, threads: 1 });
    const both = Promise.all(
      [own.run("for (;;);", { userId, signal }), own.run("1", { userId, signal })].map((end) =>
        expect(end).rejects.toThrow("shutting down"),
      ),
    );
    await own.close();
    await both;
    await expect(own.run("1", { userId, signal })).rejects.toMatchObject({ type: "service_unavailable" });
  });
});
