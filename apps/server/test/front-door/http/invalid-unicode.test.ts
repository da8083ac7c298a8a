import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** A JSON body is stored as sent or refused, never silently repaired. */
let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Answer = { status: number; body: any };

async function send(method: string, path: string, body: string | Buffer<ArrayBuffer>): Promise<Answer> {
  const headers = {
    "x-api-key": gantry.adminKey,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const answer = await fetch(gantry.url + path, { method, headers, body });
  return { status: answer.status, body: await answer.json() };
}
const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from([part]))));
const nameCount = async () => (await gantry.database.sql`select 1 from api_keys`).length;

describe("text that is not valid Unicode", () => {
  test.each<[string, string | Buffer<ArrayBuffer>, string[]]>([
    ["a byte that is not UTF-8", bytes('{"name":"', 0xff, '"}'), ["body"]],
    ["a character that is cut", bytes('{"name":"', 0xe2, 0x82, '"}'), ["body"]],
    ["half of a pair as bytes", bytes('{"name":"', 0xed, 0xa0, 0x80, '"}'), ["body"]],
    ["the first half of a pair", '{"name":"a\\ud800b"}', ["body", "name"]],
    ["the second half of a pair", '{"name":"\\uDFFF"}', ["body", "name"]],
    ["a pair the wrong way round", '{"name":"\\ude00\\ud83d"}', ["body", "name"]],
    ["half of a pair in a field's name", '{"name":"x","\\ud800":1}', ["body", "\ud800"]],
    ["half of a pair in a list", '{"models":["a/b","\\ud800"]}', ["body", "models", "1"]],
  ])("is refused and not stored: %s", async (_, body, loc) => {
    const before = await nameCount();
    const refused = await send("POST", "/api/v2/keys", body);
    expect(refused.status).toBe(422);
    const [fault, ...more] = refused.body.detail;
    expect([more, fault.type, fault.loc.map(String)]).toEqual([[], "json_invalid", loc]);
    expect(await nameCount()).toBe(before);
  });

  test("is refused by the agents API and the MCP endpoint in their own formats", async () => {
    const agent = await send("POST", "/v1/agents", '{"name":"n","goal":"\\ud800"}');
    expect(agent).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_input", details: [{ loc: ["body", "goal"], reason: "json_invalid" }] } },
    });
    const drive = await send("POST", "/v1/drives", bytes('{"name":"', 0xff, '"}'));
    expect(drive).toMatchObject({
      status: 400,
      body: { error: { details: [{ loc: ["body"], reason: "json_invalid" }] } },
    });
    for (const body of [bytes('{"a":"', 0xff, '"}'), '{"a":"\\ud800"}']) {
      expect(await send("POST", "/mcp", body)).toMatchObject({ status: 400, body: { error: { code: -32_700 } } });
    }
  });

  test("is not reported for valid text", async () => {
    for (const [written, name] of [
      ["\\ud83d\\ude42", "🙂"],
      ["🙂", "🙂"],
      ["\\\\ud800", "\\ud800"],
      ["\\u00fc\\uFFFD", "ü\ufffd"],
    ]) {
      const made = await send("POST", "/api/v2/keys", `\ufeff{"name":"${written}"}`);
      expect([made.status, made.body.name]).toEqual([201, name]);
    }
  });

  test("is found in deeply nested values", async () => {
    const deep = (inner: string) => `${"[".repeat(200_000)}${inner}${"]".repeat(200_000)}`;
    expect((await send("POST", "/api/v2/keys", deep('"\\ud83d\\ude42"'))).status).toBe(422);
    expect((await send("POST", "/api/v2/keys", `{"a":${deep("")},"name":"\\ud800"}`)).status).toBe(422);
  });
});
