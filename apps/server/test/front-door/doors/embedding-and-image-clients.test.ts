import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OpenAIEmbeddings } from "@langchain/openai";
import { embedMany, generateImage } from "ai";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type EmbeddingServer,
  startOpenAiEmbeddings,
  vectorOf,
} from "../../../src/engines/models/test-upstreams/embedding-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { createModels } from "../../support/models.ts";

const secret = "sk-clients-0815";
const values = ["a boat", "zwölf Boote"];
let gantry: GantryNode;
let upstream: EmbeddingServer;
let baseURL: string;
let apiKey: string;

beforeAll(async () => {
  upstream = await startOpenAiEmbeddings(secret);
  gantry = await startGantry();
  apiKey = gantry.adminKey;
  baseURL = `${gantry.url}/v1`;
  await gantry.call("PUT", "/api/v2/secrets/embedder", { json: { value: secret } });
  const backend = { type: "openai-embeddings", url: `${upstream.url}/v1`, model: "m-1", secret: "embedder" };
  await createModels(gantry, { embed: { kind: "embedding", backend } });
});
afterAll(async () => {
  await gantry.close();
  await upstream.close();
});

const expected = values.map((text) => vectorOf(text, 4));

describe("vectors", () => {
  test("for the AI SDK", async () => {
    const model = createOpenAI({ baseURL, apiKey }).embedding("admin/embed");
    const { embeddings, usage } = await embedMany({ model, values });
    expect(embeddings).toEqual(expected);
    expect(usage.tokens).toBe(8);
  });

  test("for the AI SDK's client of compatible servers", async () => {
    const model = createOpenAICompatible({ name: "gantry", baseURL, apiKey }).embeddingModel("admin/embed");
    expect((await embedMany({ model, values })).embeddings).toEqual(expected);
  });

  test("for LangChain", async () => {
    const langchain = new OpenAIEmbeddings({ model: "admin/embed", apiKey, configuration: { baseURL } });
    expect((await langchain.embedDocuments(values)).map((vector) => Array.from(vector))).toEqual(expected);
    expect(Array.from(await langchain.embedQuery("a boat"))).toEqual(vectorOf("a boat", 4));
  });
});

describe("images", () => {
  test("for the AI SDK, also several and edited ones", async () => {
    const model = createOpenAI({ baseURL, apiKey }).image("gantry/image");
    const { images } = await generateImage({ model, prompt: "a barn", size: "1280x720", n: 2 });
    expect(images).toHaveLength(2);
    const [first] = images;
    expect(await sharp(first?.uint8Array).metadata()).toMatchObject({ width: 1280, height: 720 });
    const prompt = { text: "a barn", images: [first?.uint8Array ?? new Uint8Array()] };
    const edited = await generateImage({ model, prompt, size: "720x1280" });
    expect(await sharp(edited.image.uint8Array).metadata()).toMatchObject({ width: 720, height: 1280 });
  });

  test("for the AI SDK's client of compatible servers", async () => {
    const model = createOpenAICompatible({ name: "gantry", baseURL, apiKey }).imageModel("gantry/image");
    const { image } = await generateImage({ model, prompt: "a barn", size: "1024x1024" });
    expect(await sharp(image.uint8Array).metadata()).toMatchObject({ width: 1536, height: 1536 });
  });
});
