import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { connectMcp } from "../../support/mcp-client.ts";
import { inTurn } from "../../support/scripted-llm.ts";

let t: AgentRuns;
let client: Client;
let ann: string;

beforeAll(async () => {
  t = await startAgentRuns();
  ann = await t.gantry.newUser("ann");
});
afterAll(() => t.close());
beforeEach(async () => {
  t.llm.script = () => ({ text: "done" });
  t.llm.requests.length = 0;
  client = await connectMcp(t.gantry.url, ann, { mode: "legacy" });
});
afterEach(() => client.close());

const offered = async (slug: string) =>
  (await client.listTools()).tools.find(({ name }) => name === `agent_${slug}`)?.inputSchema;
const lastInput = async () => (await t.gantry.call("GET", "/v1/runs", { key: ann })).body.runs[0].input;

describe("an agent whose input schema", () => {
  const text = { type: "string" };
  const object = (name: string) => ({ type: "object", properties: { [name]: text }, required: [name] });

  test.each([
    ["any", { anyOf: [object("a"), object("b")] }],
    ["one", { oneOf: [object("a"), object("b")] }],
    ["all", { allOf: [object("a"), { properties: { b: text } }] }],
    ["ref", { $ref: "#/$defs/x", $defs: { x: object("a") } }],
  ])("is composed (%s) is offered as one object and accepts matching input", async (slug, input_schema) => {
    await t.makeAgent({ name: slug, input_schema }, { key: ann });
    const schema = await offered(slug);
    expect(schema).toMatchObject({ type: "object", properties: { a: text } });
    for (const word of ["anyOf", "oneOf", "allOf", "$ref"]) expect(schema).not.toHaveProperty(word);
    const result = await client.callTool({ name: `agent_${slug}`, arguments: { a: "hello" } });
    expect(result.isError, JSON.stringify(result.content)).toBe(false);
    expect(await lastInput()).toEqual({ a: "hello" });
    const wrong = await client.callTool({ name: `agent_${slug}`, arguments: { a: 1 } });
    expect(wrong.isError).toBe(true);
  });

  test("may be another type is offered as a field, and gets its value", async () => {
    await t.makeAgent({ name: "wrapped", input_schema: { anyOf: [object("a"), text] } }, { key: ann });
    expect(Object.keys((await offered("wrapped"))?.properties ?? {})).toEqual(["value"]);
    const call = (value: unknown) => client.callTool({ name: "agent_wrapped", arguments: { value } });
    const result = await call({ a: "hello" });
    expect(result.isError, JSON.stringify(result.content)).toBe(false);
    expect(await lastInput()).toEqual({ a: "hello" });
    expect(await call("hello")).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("object") }],
    });
  });

  test.each([
    ["string", { type: "string" }],
    ["array", { type: ["array", "null"] }],
    ["either", { anyOf: [{ type: "string" }, { type: "number" }] }],
  ])("has the type %s is not offered: arguments cannot be its input", async (slug, input_schema) => {
    await t.makeAgent({ name: slug, input_schema }, { key: ann });
    expect(await offered(slug)).toBeUndefined();
    await expect(client.callTool({ name: `agent_${slug}`, arguments: {} })).rejects.toThrow("Unknown tool");
  });
});

let writers = 0;

describe("files in an agent's answer", () => {
  const pictureOf = async (key: string): Promise<string> => {
    const made = await t.gantry.call("POST", "/api/v1/gantry/image/predict", {
      form: { prompt: "an owl", size: "1280x720" },
      key,
    });
    expect(made.status, made.text).toBe(200);
    return /s3:[^"]+/.exec(made.text)?.[0] ?? "";
  };
  const linksIn = ({ content }: CallToolResult) => content.filter(({ type }) => type === "resource_link");

  test("of the caller are linked, others are not", async () => {
    const [own, foreign] = await Promise.all([ann, await t.gantry.newUser("bob")].map(pictureOf));
    await t.makeAgent({ name: "painter" }, { key: ann });
    t.llm.script = inTurn({ text: JSON.stringify({ image: own, note: `See ${own}. Not ${foreign}, s3://x/y` }) });
    const result = (await client.callTool({ name: "agent_painter", arguments: {} })) as CallToolResult;
    const links = linksIn(result) as { uri: string; mimeType: string }[];
    expect(links, JSON.stringify(result.content)).toEqual([expect.objectContaining({ mimeType: "image/jpeg" })]);
    const picture = await fetch(links[0]?.uri ?? "");
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
  });

  test.each(["`$`", "**$**", "'$'", "“$”", "[$]", "{$}", "|$|", "a [link]($)."])("are found in %s", async (written) => {
    const own = await pictureOf(ann);
    const slug = `writer-${++writers}`;
    await t.makeAgent({ name: slug }, { key: ann });
    t.llm.script = inTurn({ text: JSON.stringify({ note: `See ${written.replace("$", own)}` }) });
    const result = (await client.callTool({ name: `agent_${slug}`, arguments: {} })) as CallToolResult;
    expect(linksIn(result), JSON.stringify(result.content)).toHaveLength(1);
  });

  test("small images of models also come with a link", async () => {
    const result = (await client.callTool({
      name: "model_gantry_image",
      arguments: { prompt: "an owl", size: "1280x720" },
    })) as CallToolResult;
    expect(result.content.map(({ type }) => type)).toEqual(["text", "image", "resource_link"]);
  });
});
