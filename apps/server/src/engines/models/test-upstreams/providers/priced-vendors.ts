import { jsonReply } from "../scripted-server.ts";
import { bearerKey, openAiRoutes, type ProviderScript, queryOf } from "./provider-server.ts";

const openRouterEntry = (id: string, more: object) => ({
  id,
  canonical_slug: id,
  hugging_face_id: null,
  name: id,
  created: 1741818122,
  description: "A model",
  context_length: 128_000,
  architecture: {
    modality: "text->text",
    input_modalities: ["text"],
    output_modalities: ["text"],
    tokenizer: "GPT",
    instruct_type: null,
  },
  pricing: { prompt: "0.00000015", completion: "0.0000006", request: "0", image: "0", web_search: "0" },
  top_provider: { context_length: 128_000, max_completion_tokens: 16_384, is_moderated: false },
  per_request_limits: null,
  supported_parameters: ["max_tokens", "temperature"],
  ...more,
});

const openRouterModels = [
  openRouterEntry("anthropic/claude-opus-4.6-fast", {
    name: "Anthropic: Claude Opus 4.6 (fast)",
    context_length: 1_000_000,
    architecture: { input_modalities: ["text", "image", "file"], output_modalities: ["text"] },
    pricing: {
      prompt: "0.00003",
      completion: "0.00015",
      web_search: "0.01",
      input_cache_read: "0.000003",
      input_cache_write: "0.0000375",
    },
    top_provider: { context_length: 1_000_000, max_completion_tokens: 128_000, is_moderated: true },
    supported_parameters: ["max_tokens", "tools", "tool_choice"],
  }),
  openRouterEntry("openrouter/auto", { pricing: { prompt: "-1", completion: "-1" }, top_provider: {} }),
  openRouterEntry("meta-llama/llama-3.2-3b-instruct:free", { pricing: { prompt: "0", completion: "0" } }),
  openRouterEntry("perplexity/sonar", { pricing: { prompt: "0.000001", completion: "0.000001", request: "0.005" } }),
  openRouterEntry("black-forest-labs/flux.2-pro", {
    architecture: { input_modalities: ["text"], output_modalities: ["image"] },
  }),
  openRouterEntry("qwen/qwen3-embedding-8b", {
    architecture: { input_modalities: ["text"], output_modalities: ["embeddings"] },
    pricing: { prompt: "0.00000001", completion: "0" },
  }),
];

export const openRouter: ProviderScript = {
  type: "openrouter",
  address: "/api/v1",
  keyHeaders: [bearerKey],
  refusal: jsonReply({ error: { message: "User not found.", code: 401 } }, 401),
  open: ["GET /api/v1/models"],
  routes: {
    "GET /api/v1/models": (seen) => {
      const begin = Number(queryOf(seen).get("offset") ?? 0);
      const next = begin + 4 < openRouterModels.length ? `/api/v1/models?offset=${begin + 4}&limit=4` : null;
      return {
        data: openRouterModels.slice(begin, begin + 4),
        links: { next },
        total_count: openRouterModels.length,
      };
    },
    "GET /api/v1/key": () => ({ data: { label: "sk-or-v1-abc...123", usage: 0.1, limit: null, is_free_tier: false } }),
    ...openAiRoutes("/api/v1"),
  },
  unknown: () => ({ status: 404, headers: { "content-type": "text/html" }, body: "<!DOCTYPE html><html>404</html>" }),
};

const togetherEntry = (id: string, type: string, more: object = {}) => ({
  id,
  object: "model",
  created: 1692896905,
  type,
  running: false,
  display_name: id,
  organization: "Acme",
  link: "",
  license: "other",
  context_length: 32_768,
  config: { chat_template: null, stop: [], bos_token: null, eos_token: null },
  pricing: { hourly: 0, input: 0.88, output: 0.88, base: 0, finetune: 0 },
  ...more,
});

export const together: ProviderScript = {
  type: "together",
  address: "/v1",
  keyHeaders: [bearerKey],
  refusal: jsonReply(
    { error: { message: "Invalid API key provided", type: "invalid_request_error", code: "invalid_api_key" } },
    401,
  ),
  routes: {
    "GET /v1/models": () => [
      togetherEntry("meta-llama/Llama-3.3-70B-Instruct-Turbo", "chat", { context_length: 131_072 }),
      togetherEntry("openai/gpt-oss-20b", "chat", {
        pricing: { hourly: 0, input: 0.05, output: 0.2, base: 0, finetune: 0, cached_input: 0.015 },
      }),
      togetherEntry("acme/dedicated-only", "chat", {
        pricing: { hourly: 3.36, input: 0, output: 0, base: 0, finetune: 0 },
        context_length: 0,
      }),
      togetherEntry("meta-llama/Llama-2-70b-hf", "language"),
      togetherEntry("BAAI/bge-base-en-v1.5", "embedding", {
        context_length: 512,
        pricing: { hourly: 0, input: 0.008, output: 0, base: 0, finetune: 0 },
      }),
      togetherEntry("black-forest-labs/FLUX.1-schnell", "image", { context_length: 0 }),
      togetherEntry("Salesforce/Llama-Rank-V1", "rerank"),
      togetherEntry("meta-llama/Meta-Llama-Guard-3-8B", "moderation"),
      togetherEntry("cartesia/sonic-2", "audio"),
    ],
    ...openAiRoutes("/v1"),
  },
};

const mistralEntry = (id: string, capabilities: object, more: object = {}) => ({
  id,
  object: "model",
  created: 1743621323,
  owned_by: "mistralai",
  capabilities: {
    completion_chat: false,
    completion_fim: false,
    function_calling: false,
    fine_tuning: false,
    vision: false,
    classification: false,
    ...capabilities,
  },
  name: id,
  description: `Official ${id} Mistral AI model`,
  max_context_length: 131_072,
  aliases: [],
  deprecation: null,
  default_model_temperature: 0.3,
  type: "base",
  ...more,
});

export const mistral: ProviderScript = {
  type: "mistral",
  address: "/v1",
  keyHeaders: [bearerKey],
  refusal: jsonReply({ detail: "Unauthorized" }, 401),
  routes: {
    "GET /v1/models": () => ({
      object: "list",
      data: [
        mistralEntry("mistral-medium-2508", { completion_chat: true, function_calling: true, vision: true }),
        mistralEntry("mistral-medium-latest", { completion_chat: true, function_calling: true, vision: true }),
        mistralEntry("open-mistral-7b", { completion_chat: true }, { max_context_length: 32_768, archived: true }),
        mistralEntry("mistral-ocr-latest", {}),
        mistralEntry("mistral-moderation-latest", { classification: true }),
        mistralEntry("mistral-embed", {}, { max_context_length: 8192 }),
      ],
    }),
    ...openAiRoutes("/v1"),
  },
};
