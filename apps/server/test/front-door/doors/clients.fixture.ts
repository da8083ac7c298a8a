import { expect } from "vitest";
import { anthropicDialect } from "../../../src/engines/models/test-upstreams/anthropic.dialect.ts";
import { openAiChatDialect } from "../../../src/engines/models/test-upstreams/openai-chat.dialect.ts";
import {
  answering,
  type Behaviour,
  crumbling,
  type ScriptedAnswer,
  TextUpstream,
} from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";

/** The key that the scripted upstreams accept. */
const secret = "sk-secret-4711";

export const weatherQuestion = 'Get the weather of "Oslo"';
export const weather = { city: "Oslo", degrees: 12 };
export const jsonQuestion = 'Answer as JSON.\n\nInput: {"city": "Oslo", "degrees": 12}';

/** Built in, a backend of OpenAI's protocol, and one of Anthropic's. */
export const models = ["gantry/rules", "admin/openai", "admin/claude"] as const;

const usage = { input: 30, output: 10, cached: 5 };
const call = (name: string, args: object): ScriptedAnswer => ({
  toolCalls: [{ id: "call_7", name, arguments: JSON.stringify(args) }],
  usage,
});
const said = (text: string): ScriptedAnswer => ({ text: text.match(/\s*\S+/g) ?? [], usage });

interface Asked {
  messages: unknown[];
  tools?: { name?: string; function?: { name: string } }[];
}

/** What a model would answer to the questions above. */
function answerTo(body: Record<string, unknown>): ScriptedAnswer {
  const { messages, tools = [] } = body as unknown as Asked;
  const names = tools.map((tool) => tool.function?.name ?? tool.name);
  const read = JSON.stringify(messages);
  if (read.includes("as JSON")) {
    // Clients of Anthropic's protocol may ask for JSON with a tool.
    const tool = names.find((name) => name !== "get_weather");
    return tool === undefined ? said(JSON.stringify(weather)) : call(tool, weather);
  }
  if (names.includes("get_weather") && !read.includes("12 degrees")) return call("get_weather", { city: "Oslo" });
  return said(read.includes("12 degrees") ? "Oslo has 12 degrees." : "6 * 7 = 42");
}

/** Streams in tiny pieces, with comments or pings between the events. */
const model: Behaviour = (exchange) => {
  const answer = answerTo(exchange.body);
  return exchange.body.stream === true ? crumbling(answer, 61)(exchange) : answering(answer)(exchange);
};

export interface ClientsUnderTest {
  gantry: GantryNode;
  /** The base URL of OpenAI clients. */
  base: string;
  /** Doors of the predictions of a key, in no particular order. All of them must have succeeded. */
  doorsOf(key: string): Promise<string[]>;
  close(): Promise<void>;
}

/** A server with the models above, their scripted upstreams, and an upstream of further models. */
export async function startForClients(more: Record<string, object> = {}): Promise<ClientsUnderTest> {
  const openai = new TextUpstream(openAiChatDialect);
  const anthropic = new TextUpstream(anthropicDialect);
  await Promise.all([openai.start(), anthropic.start()]);
  for (const upstream of [openai, anthropic]) upstream.play(model);
  const gantry = await startGantry();
  await gantry.call("PUT", "/api/v2/secrets/upstream", { json: { value: secret } });
  const pricing = { per_million_input_tokens: 1, per_million_output_tokens: 10 };
  const common = { pricing, context_window: 100_000 };
  await createModels(gantry, {
    openai: chatModel("", {
      ...common,
      backend: { type: "openai-chat", url: openai.url, model: "m-1", secret: "upstream" },
    }),
    claude: chatModel("", {
      ...common,
      backend: { type: "anthropic", url: anthropic.url, model: "m-1", secret: "upstream" },
    }),
    ...more,
  });
  return {
    gantry,
    base: `${gantry.url}/v1`,
    async doorsOf(key) {
      const { body } = await gantry.call("GET", "/api/v2/usage", { key });
      const rows = body.results as { door: string; status: number }[];
      expect(rows.filter(({ status }) => status !== 200)).toEqual([]);
      return rows.map(({ door }) => door);
    },
    async close() {
      await gantry.close();
      await Promise.all([openai.stop(), anthropic.stop()]);
    },
  };
}
