import { expect, it } from "vitest";
import { kindByName } from "./kind-by-name.rules.ts";

const names = {
  text: [
    "gpt-4o",
    "o3",
    "claude-opus-5",
    "llama3.2:latest",
    "deepseek-ocr",
    "Qwen/Qwen2.5-VL-7B-Instruct",
    "ft:gpt-4o-mini-2024-07-18:acme::B1x",
    "gemini-2.5-flash",
    "mistral-large-latest",
    "olmo-2-0325-32b",
    "phi4",
    "command-r",
  ],
  embedding: [
    "text-embedding-3-small",
    "text-embedding-ada-002",
    "BAAI/bge-m3",
    "intfloat/e5-large-v2",
    "thenlper/gte-large",
    "all-minilm:l6-v2",
    "nomic-embed-text:latest",
    "sentence-transformers/all-mpnet-base-v2",
    "mxbai-embed-large",
    "gemini-embedding-001",
  ],
  image: [
    "dall-e-3",
    "gpt-image-1",
    "black-forest-labs/FLUX.1-schnell",
    "stable-diffusion-3.5",
    "imagen-4.0-generate-001",
    "gemini-2.5-flash-image",
    "Qwen/Qwen-Image",
  ],
  undefined: [
    "whisper-1",
    "tts-1",
    "playai-tts",
    "gpt-4o-mini-tts",
    "gpt-4o-transcribe",
    "gpt-4o-realtime-preview",
    "gpt-audio",
    "omni-moderation-latest",
    "BAAI/bge-reranker-v2-m3",
    "meta-llama/llama-guard-4-12b",
    "sora-2",
    "veo-3.0-generate-001",
    "davinci-002",
    "gpt-3.5-turbo-instruct",
    "ft:davinci-002:acme::1",
  ],
};

it.each(Object.entries(names).flatMap(([kind, ids]) => ids.map((id) => [id, kind])))("takes %s for %s", (id, kind) => {
  expect(String(kindByName(id))).toBe(kind);
});
