import type { UpstreamModel } from "@gantry/wire";
import { expect, test } from "vitest";
import type { LocalServer } from "../engines/models/providers/providers.ts";
import { chooseLocal, foundLines, portsToTry } from "./find-models.ts";

const model = (id: string, more: Partial<UpstreamModel> = {}): UpstreamModel => ({
  id,
  title: id,
  description: "",
  kind: "text",
  context_window: 8192,
  max_output_tokens: null,
  model_size_in_billions: null,
  input_modalities: ["text"],
  output_modalities: ["text"],
  tools: true,
  pricing: null,
  ...more,
});

const ollama: LocalServer = {
  type: "ollama",
  url: "http://127.0.0.1:11434",
  models: [model("nomic", { kind: "embedding", context_window: 90_000 }), model("qwen3:latest"), model("llama3.2:3b")],
};
const lmstudio: LocalServer = {
  type: "lmstudio",
  url: "http://127.0.0.1:1234",
  models: [model("gemma", { tools: false })],
};
const idle: LocalServer = { type: "ollama", url: "http://127.0.0.1:11434", models: [] };

const portOf = (type: string, ports: ReturnType<typeof portsToTry>) => ports.find((one) => one.type === type)?.port;

test("Gantry's own port is not tried", () => {
  expect(portOf("llamacpp", portsToTry({ OLLAMA_HOST: undefined, PORT: 8080 }))).toBeUndefined();
  expect(portOf("llamacpp", portsToTry({ OLLAMA_HOST: undefined, PORT: 8081 }))).toBe(8080);
});

test.each([
  [undefined, 11_434],
  ["127.0.0.1", 11_434],
  ["0.0.0.0:11500", 11_500],
  ["http://localhost:11500/", 11_500],
  ["[::1]:11500", 11_500],
  [":11500", 11_500],
  ["gpu.example:11500", 11_434],
  ["10.0.0.7:11500", 11_434],
  ["127.0.0.1:99999", 11_434],
  ["what is this", 11_434],
])("OLLAMA_HOST=%s is port %i of this machine", (host, port) => {
  expect(portOf("ollama", portsToTry({ OLLAMA_HOST: host, PORT: 0 }))).toBe(port);
});

test("the wanted model is used, with or without its tag, else a chat model of the first server that has one", () => {
  expect(chooseLocal([ollama, lmstudio], undefined)?.backend).toMatchObject({ url: "http://127.0.0.1:11434/v1" });
  expect(chooseLocal([ollama, lmstudio], "llama3.2:3b")?.backend.model).toBe("llama3.2:3b");
  expect(chooseLocal([ollama, lmstudio], "qwen3")?.backend.model).toBe("qwen3:latest");
  expect(chooseLocal([ollama, lmstudio], "gemma")).toMatchObject({ label: "LM Studio", contextWindow: 8192 });
  expect(chooseLocal([ollama, lmstudio], "nomic")?.backend.model).not.toBe("nomic");
  expect(chooseLocal([idle, lmstudio], undefined)?.label).toBe("LM Studio");
  expect(chooseLocal([idle], undefined)).toBeUndefined();
});

test("the start says what was found, who uses it and what to do next", () => {
  const next = "Import more in the console under Models → Connect a model.";
  const shown = (servers: LocalServer[], wanted?: string, usesDefault = true) =>
    foundLines(servers, chooseLocal(servers, wanted), { usesDefault, wanted });
  expect(shown([])).toEqual([]);
  expect(shown([ollama, lmstudio], "qwen3")).toEqual([
    "Found Ollama at http://127.0.0.1:11434 with 3 models: anthropic/default and gantry/text use qwen3:latest.",
    "Found LM Studio at http://127.0.0.1:1234 with 1 model.",
    next,
  ]);
  expect(shown([lmstudio], undefined, false)).toEqual([
    "Found LM Studio at http://127.0.0.1:1234 with 1 model: gantry/text uses gemma.",
    next,
  ]);
  expect(shown([idle])).toEqual([
    "Found Ollama at http://127.0.0.1:11434, without models. Pull one with `ollama pull llama3.2`, then restart Gantry.",
  ]);
  expect(shown([lmstudio], "gpt-5")).toContain("GANTRY_LLM_MODEL names gpt-5, which no server on this machine has.");
});
