import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let llm: ScriptedLlm;

beforeAll(async () => {
  llm = await startScriptedLlm();
  gantry = await startGantry();
  const text = { type: "string" };
  const texts = { type: "array", items: text };
  const notes = { type: "object", properties: { about: text }, additionalProperties: true };
  for (const [name, type] of Object.entries({ whole: "integer", broken: "number" })) {
    const json = {
      ...{ title: "Tokens", kind: "other", visibility: "public", capacity: 20 },
      pricing: { per_million_input_tokens: 1000, per_million_output_tokens: 1000 },
      input: {
        type: "object",
        required: ["prompt"],
        properties: { prompt: text, docs: texts, notes, max_tokens: { type } },
      },
      output: { type: "object", properties: { output: text } },
      backend: { type: "openai-chat", url: llm.url, model: "scripted" },
    };
    const made = await gantry.call("PUT", `/api/v1/admin/${name}`, { json });
    expect(made.status, made.text).toBe(201);
  }
});
afterAll(async () => {
  await gantry.close();
  await llm.close();
});
beforeEach(() => {
  llm.script = () => ({ text: "done", usage: { in: 1, out: 1 } });
});

const predict = (model: string, form: Record<string, string>, key: string) =>
  gantry.call("POST", `/api/v1/admin/${model}/predict`, { form: { prompt: "hello", ...form }, key });
const me = async (key: string) => (await gantry.call("GET", "/api/v2/me", { key })).body;

/** The reservation while a call with this input runs. */
async function reservedFor(model: string, form: Record<string, string>, key: string): Promise<number> {
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    llm.script = () => {
      resolve();
      return new Promise((done) => (answer = () => done({ text: "done", usage: { in: 1, out: 1 } })));
    };
  });
  const call = predict(model, form, key);
  await Promise.race([asked, call]);
  const { reserved } = await me(key);
  answer();
  expect((await call).status).toBe(200);
  return reserved;
}

describe("the reservation for output tokens", () => {
  test("is the default length without max_tokens", async () => {
    const key = await gantry.newUser("reserver", { plan: "unlimited", credit: 1000 });
    // "hello" is one token: a quarter more plus 64.
    const input = 0.066;
    expect(await reservedFor("whole", { max_tokens: "5000" }, key)).toBe(input + 5);
    expect(await reservedFor("whole", {}, key)).toBe(input + 4.096);
    for (const max_tokens of ["0", "-600000", "-9007199254740991"]) {
      expect(await reservedFor("whole", { max_tokens }, key), max_tokens).toBe(input + 4.096);
    }
    expect(await reservedFor("broken", { max_tokens: "1.5" }, key)).toBe(input + 0.002);
    for (const max_tokens of ["-0.5", "0.5"]) {
      expect(await reservedFor("broken", { max_tokens }, key), max_tokens).toBe(input + 4.096);
    }
  });

  test("also refuses a caller who sets max_tokens to 0", async () => {
    const key = await gantry.newUser("none-asked", { plan: "unlimited", credit: 0 });
    const calls = Array.from({ length: 30 }, () =>
      gantry.call("POST", "/api/v1/admin/whole/predict/async/", { form: { prompt: "hello", max_tokens: "0" }, key }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(29);
    await waitFor("the one that was accepted", async () => (await me(key)).reserved === 0);
  });

  test("is bounded if max_tokens is huge", async () => {
    const key = await gantry.newUser("dreamer", { credit: 1000 });
    const most = 2_147_483.713;
    expect(await reservedFor("whole", { max_tokens: "9007199254740991" }, key)).toBe(most);
    for (const max_tokens of ["1e15", "1e300"]) {
      expect(await reservedFor("broken", { max_tokens }, key), max_tokens).toBe(most);
    }
    expect(await me(key)).toMatchObject({ reserved: 0 });
  });
});

describe("input text", () => {
  const docs = JSON.stringify(Array.from({ length: 300 }, (_, n) => `word${n} and more`));
  const notes = JSON.stringify({ about: Array.from({ length: 300 }, (_, n) => `thing${n}`).join(" ") });

  test("is reserved for every input field", async () => {
    const key = await gantry.newUser("reader", { plan: "unlimited", credit: 1000 });
    const plain = await reservedFor("whole", { max_tokens: "1" }, key);
    expect(await reservedFor("whole", { max_tokens: "1", docs }, key)).toBeGreaterThan(plain + 0.9);
    expect(await reservedFor("whole", { max_tokens: "1", notes }, key)).toBeGreaterThan(plain + 0.6);
  });

  test("is counted and charged if the upstream reports no tokens", async () => {
    const key = await gantry.newUser("unreported", { plan: "unlimited", credit: 1000 });
    llm.script = () => ({ text: "done", usage: null });
    const spent = async (form: Record<string, string>) => {
      const { balance } = await me(key);
      expect((await predict("whole", form, key)).status).toBe(200);
      await waitFor("the charge", async () => (await me(key)).reserved === 0);
      return balance - (await me(key)).balance;
    };
    const plain = await spent({});
    expect(plain).toBeLessThan(0.01);
    expect(await spent({ docs })).toBeGreaterThan(plain + 0.9);
    expect(await spent({ notes })).toBeGreaterThan(plain + 0.6);
  });
});

describe("a token-priced model whose backend reports no tokens", () => {
  let cog: SlowCog;
  beforeAll(async () => {
    cog = await startSlowCog();
  });
  afterAll(() => cog.close());
  const object = (properties: object, required: string[] = []) => ({ type: "object", properties, required });
  const file = { type: "string", format: "binary", "x-media": "file" };
  async function make(name: string, change: object): Promise<void> {
    const json = {
      ...{ title: "Cog", kind: "other", visibility: "public", capacity: 9, backend: { type: "cog", url: cog.url } },
      input: object({ prompt: { type: "string" } }, ["prompt"]),
      ...change,
    };
    const put = await gantry.call("PUT", `/api/v1/admin/${name}`, { json });
    expect(put.status, put.text).toBe(201);
  }
  async function runOnce(name: string, key: string, output?: unknown) {
    const { balance } = await me(key);
    const call = predict(name, {}, key);
    await waitFor("the call", () => cog.open === 1);
    const { reserved } = await me(key);
    cog.finishOne(output);
    const answer = await call;
    return { reserved, answer, spent: Math.round((balance - (await me(key)).balance) * 1e6) / 1e6 };
  }

  test("is counted by the server and charged", async () => {
    const pricing = { per_million_input_tokens: 1000, per_million_output_tokens: 10_000 };
    await make("told-none", { pricing, output: object({ output: { type: "string" } }) });
    const key = await gantry.newUser("counted", { plan: "unlimited", credit: 100 });
    const { answer, spent } = await runOnce("told-none", key);
    expect([answer.status, spent]).toEqual([200, 0.011]);
  });

  test("reserves for every file field and for the dearest input price, and is charged for every produced file", async () => {
    const pricing = { per_output: 1, per_million_cached_tokens: 1000 };
    await make("three", { pricing, output: object({ a: file, b: file, c: file }) });
    const key = await gantry.newUser("three", { plan: "unlimited", credit: 100 });
    const text = "data:text/plain;base64,aGVsbG8=";
    const made = await runOnce("three", key, { a: text, b: text, c: text });
    expect([made.answer.status, made.reserved, made.spent], made.answer.text).toEqual([200, 3.066, 3]);
    // "done" is not a file.
    const failed = await runOnce("three", key);
    expect([failed.answer.status, failed.reserved, failed.spent]).toEqual([502, 3.066, 0]);
  });

  test("is refused if a prediction could cost more than can be represented", async () => {
    const pricing = { per_second: 1_000_000 };
    const json = { pricing, timeout_seconds: 9008, output: object({ output: { type: "string" } }) };
    const put = await gantry.call("PUT", "/api/v1/admin/dearest", {
      json: { title: "x", kind: "other", input: object({}), backend: { type: "cog", url: cog.url }, ...json },
    });
    expect([put.status, put.body.detail[0].loc]).toEqual([422, ["body", "pricing", "per_second"]]);
  });
});

describe("an implausible token report", () => {
  const most = 10_000_000;

  test("is replaced by the server's count, and the log names the model", async () => {
    const key = await gantry.newUser("nonsense", { plan: "unlimited", credit: 100 });
    for (const usage of [
      { in: 2, out: 2_147_483_647 },
      { in: most + 1, out: 2 },
      { in: 2, out: Number.MAX_SAFE_INTEGER },
    ]) {
      const { balance } = await me(key);
      llm.script = () => ({ text: "hello world", usage });
      const answer = await predict("whole", {}, key);
      expect(answer.status, answer.text).toBe(200);
      expect(balance - (await me(key)).balance).toBeCloseTo(0.003, 6);
    }
    const [row] = (await gantry.call("GET", "/api/v2/usage", { key })).body.results;
    expect(row).toMatchObject({ input_tokens: 1, output_tokens: 2, price: 0.003 });
    const told = gantry
      .logged()
      .split("\n")
      .filter((line) => line.includes("more tokens than an answer can have"));
    expect(told).toHaveLength(3);
    for (const line of told) expect(line).toContain('"model":"admin/whole"');
  });

  test("below that limit is charged up to the reservation", async () => {
    const key = await gantry.newUser("long-winded", { plan: "unlimited", credit: 100_000 });
    llm.script = () => ({ text: "hello world", usage: { in: 1, out: most } });
    expect((await predict("whole", {}, key)).status).toBe(200);
    expect((await me(key)).balance).toBe(99_995.903);
  });
});
