import { jsonReply, type Seen } from "../scripted-server.ts";
import { bearerKey, openAiRoutes, type ProviderScript } from "./provider-server.ts";

const proxyRefusal = jsonReply({ error: "Unauthorized" }, 401);

interface OllamaModel {
  name: string;
  details: object;
  show?: object;
}

const tag = (name: string, details: object, show?: object): OllamaModel => ({
  name,
  details: {
    parent_model: "",
    format: "gguf",
    family: "llama",
    families: ["llama"],
    parameter_size: "3.2B",
    quantization_level: "Q4_K_M",
    ...details,
  },
  ...(show && { show }),
});

const ollamaModels: OllamaModel[] = [
  tag(
    "llama3.2:latest",
    {},
    {
      parameters: 'stop                           "<|eot_id|>"',
      capabilities: ["completion", "tools"],
      model_info: { "general.architecture": "llama", "llama.context_length": 131_072, "llama.block_count": 28 },
    },
  ),
  tag(
    "qwen3:8b",
    { family: "qwen3", families: ["qwen3"], parameter_size: "8.2B" },
    {
      capabilities: ["completion", "tools", "thinking"],
      model_info: { "general.architecture": "qwen3", "qwen3.context_length": 40_960 },
    },
  ),
  tag(
    "gemma3:27b",
    { family: "gemma3", families: ["gemma3"], parameter_size: "27.4B" },
    {
      parameters: "num_ctx                        8192\ntemperature                    1",
      capabilities: ["completion", "vision"],
      model_info: { "general.architecture": "gemma3", "gemma3.context_length": 131_072 },
    },
  ),
  tag(
    "nomic-embed-text:latest",
    { family: "nomic-bert", families: ["nomic-bert"], parameter_size: "137M" },
    {
      capabilities: ["embedding"],
      model_info: { "general.architecture": "nomic-bert", "nomic-bert.context_length": 2048 },
    },
  ),
  tag("x/z-image-turbo:latest", { family: "" }, { capabilities: ["image"], model_info: {} }),
];

/** The version before details were in the list. */
export const ollama: ProviderScript = {
  type: "ollama",
  address: "",
  keyHeaders: [bearerKey],
  refusal: proxyRefusal,
  routes: {
    "GET /api/version": () => ({ version: "0.14.2" }),
    "GET /api/tags": () => ({
      models: ollamaModels.map(({ name, details }) => ({
        name,
        model: name,
        modified_at: "2026-05-04T17:37:44.706015396-07:00",
        size: 2_019_393_189,
        digest: "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72",
        details,
      })),
    }),
    "POST /api/show": ({ body }) => {
      const { model } = JSON.parse(String(body)) as { model: string };
      const found = ollamaModels.find(({ name }) => name === model);
      if (!found?.show) return jsonReply({ error: `model '${model}' not found` }, 404);
      return { license: "…", modelfile: "…", template: "…", details: found.details, ...found.show };
    },
    "GET /api/ps": () => ({
      models: [
        { name: "qwen3:8b", model: "qwen3:8b", size: 6_654_289_920, size_vram: 6_654_289_920, context_length: 4096 },
      ],
    }),
    "GET /v1/models": () => ({
      object: "list",
      data: ollamaModels.map(({ name }) => ({ id: name, object: "model", created: 1746405464, owned_by: "library" })),
    }),
    ...openAiRoutes("/v1"),
  },
  unknown: () => ({ status: 404, headers: { "content-type": "text/plain" }, body: "404 page not found" }),
};

export const lmStudio: ProviderScript = {
  type: "lmstudio",
  address: "",
  keyHeaders: [bearerKey],
  refusal: jsonReply({ error: { message: "An LM Studio API token is required", type: "invalid_request_error" } }, 401),
  routes: {
    "GET /api/v0/models": () => ({
      object: "list",
      data: [
        {
          id: "qwen2-vl-7b-instruct",
          object: "model",
          type: "vlm",
          publisher: "mlx-community",
          arch: "qwen2_vl",
          compatibility_type: "mlx",
          quantization: "4bit",
          state: "not-loaded",
          max_context_length: 32_768,
        },
        {
          id: "qwen/qwen3-4b-2507",
          object: "model",
          type: "llm",
          publisher: "qwen",
          arch: "qwen3",
          compatibility_type: "gguf",
          quantization: "Q4_K_M",
          state: "loaded",
          max_context_length: 262_144,
          loaded_context_length: 8192,
          capabilities: ["tool_use"],
        },
        {
          id: "text-embedding-nomic-embed-text-v1.5",
          object: "model",
          type: "embeddings",
          publisher: "nomic-ai",
          arch: "nomic-bert",
          compatibility_type: "gguf",
          quantization: "Q4_0",
          state: "not-loaded",
          max_context_length: 2048,
        },
      ],
    }),
    "GET /v1/models": () => ({
      data: ["qwen2-vl-7b-instruct", "qwen/qwen3-4b-2507", "text-embedding-nomic-embed-text-v1.5"].map((id) => ({
        id,
        object: "model",
        owned_by: "organization_owner",
      })),
      object: "list",
    }),
    ...openAiRoutes("/v1"),
  },
  // It answers unknown routes with success.
  unknown: ({ method, path }: Seen) => jsonReply({ error: `Unexpected endpoint or method. (${method} ${path})` }),
};

const llamaFile = "../models/Qwen3-8B-Q4_K_M.gguf";

export const llamaCpp: ProviderScript = {
  type: "llamacpp",
  address: "",
  keyHeaders: [bearerKey],
  refusal: jsonReply({ error: { message: "Invalid API Key", type: "authentication_error", code: 401 } }, 401),
  headers: { server: "llama.cpp" },
  routes: {
    "GET /v1/models": () => ({
      models: [
        {
          name: llamaFile,
          model: llamaFile,
          modified_at: "",
          size: "",
          digest: "",
          type: "model",
          description: "",
          tags: [""],
          capabilities: ["completion"],
          parameters: "",
          details: { parent_model: "", format: "gguf", family: "", families: [""], parameter_size: "" },
        },
      ],
      object: "list",
      data: [
        {
          id: llamaFile,
          aliases: [],
          tags: [],
          object: "model",
          created: 1763400000,
          owned_by: "llamacpp",
          meta: {
            vocab_type: 2,
            n_vocab: 151_936,
            n_ctx_train: 40_960,
            n_embd: 4096,
            n_params: 8_190_735_360,
            size: 5_020_000_000,
          },
        },
      ],
    }),
    "GET /props": () => ({
      default_generation_settings: { params: { n_predict: -1 }, n_ctx: 16_384 },
      total_slots: 4,
      model_alias: llamaFile,
      model_path: llamaFile,
      modalities: { vision: true, video: false, audio: false },
      chat_template: "{%- if tools %}…",
      chat_template_caps: { supports_tools: true, supports_tool_calls: true },
      build_info: "b6500-abcdef",
    }),
    ...openAiRoutes("/v1"),
  },
  unknown: () => jsonReply({ error: { message: "File Not Found", type: "not_found_error", code: 404 } }, 404),
};
