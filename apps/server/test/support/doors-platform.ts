import OpenAI from "openai";
import { afterAll, beforeAll, expect } from "vitest";
import { anthropicDialect } from "../../src/engines/models/test-upstreams/anthropic.dialect.ts";
import { openAiChatDialect } from "../../src/engines/models/test-upstreams/openai-chat.dialect.ts";
import { type Behaviour, beginStream, TextUpstream } from "../../src/engines/models/test-upstreams/text-upstream.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { type GantryNode, startGantry } from "./gantry.ts";
import { chatModel, createModels } from "./models.ts";

export const upstreamKey = "sk-secret-4711";

export interface DoorsPlatform {
  readonly gantry: GantryNode;
  /** Behind `admin/native`: speaks the protocol of OpenAI's clients. */
  readonly native: TextUpstream;
  /** Behind `admin/translated`: speaks Anthropic's protocol. */
  readonly translated: TextUpstream;
  /** The official client, without retries of its own. */
  openai(key?: string, options?: ConstructorParameters<typeof OpenAI>[0]): OpenAI;
  makeModel(name: string, upstream: "native" | "translated", manifest?: object): Promise<void>;
}

const pricing = { per_million_input_tokens: 1, per_million_output_tokens: 10 };

/** A server and two upstreams for the tests of one file. The ledger is verified after the last test. */
export function useDoorsPlatform(env: Record<string, string> = {}): DoorsPlatform {
  let gantry: GantryNode;
  const native = new TextUpstream(openAiChatDialect);
  const translated = new TextUpstream(anthropicDialect);

  beforeAll(async () => {
    gantry = await startGantry({ env });
    await native.start();
    await translated.start();
    const secret = await gantry.call("PUT", "/api/v2/secrets/upstream", { json: { value: upstreamKey } });
    expect(secret.status, secret.text).toBeLessThan(300);
    await platform.makeModel("native", "native");
    await platform.makeModel("translated", "translated");
  });
  afterAll(async () => {
    expect(await verifyLedger(gantry.database)).toEqual([]);
    await gantry.close();
    await native.stop();
    await translated.stop();
  });

  const platform: DoorsPlatform = {
    get gantry() {
      return gantry;
    },
    native,
    translated,
    openai: (apiKey = gantry.adminKey, options = {}) =>
      new OpenAI({ baseURL: `${gantry.url}/v1`, apiKey, maxRetries: 0, ...options }),
    makeModel: (name, upstream, manifest = {}) => {
      const { url } = platform[upstream];
      const backend = {
        type: upstream === "native" ? "openai-chat" : "anthropic",
        url,
        model: "m-1",
        secret: "upstream",
      };
      return createModels(gantry, { [name]: chatModel(url, { backend, pricing, capacity: 50, ...manifest }) });
    },
  };
  return platform;
}

/** An upstream that sends these events, given as JSON or as text. */
export function sending(...events: readonly (object | string)[]): Behaviour {
  return ({ response }) => {
    beginStream(response);
    const texts = events.map((event) => (typeof event === "string" ? event : JSON.stringify(event)));
    response.end(texts.map((text) => `data: ${text}\n\n`).join(""));
  };
}

/** The events of a streamed answer as they came, without `data: `. */
export function eventsOf(text: string): string[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => block.slice("data: ".length));
}
