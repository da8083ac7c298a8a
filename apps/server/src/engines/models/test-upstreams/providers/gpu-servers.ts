import { jsonReply } from "../scripted-server.ts";
import { bearerKey, openAiRoutes, type ProviderScript } from "./provider-server.ts";

const refusal = jsonReply({ error: "Unauthorized" }, 401);

const vllmEntry = (id: string, more: object = {}) => ({
  id,
  object: "model",
  created: 1763400000,
  owned_by: "vllm",
  root: id,
  parent: null,
  max_model_len: 32_768,
  permission: [{ id: "modelperm-1", object: "model_permission", allow_sampling: true }],
  ...more,
});

export const vllm: ProviderScript = {
  type: "vllm",
  address: "/v1",
  keyHeaders: [bearerKey],
  refusal,
  routes: {
    "GET /v1/models": () => ({
      object: "list",
      data: [
        vllmEntry("Qwen/Qwen3-8B"),
        vllmEntry("sql-adapter", { root: "/adapters/sql", parent: "Qwen/Qwen3-8B", max_model_len: null }),
        vllmEntry("vectors", { root: "BAAI/bge-m3", max_model_len: 8192 }),
      ],
    }),
    ...openAiRoutes("/v1"),
  },
};

export const sglang: ProviderScript = {
  type: "sglang",
  address: "",
  keyHeaders: [bearerKey],
  refusal,
  routes: {
    "GET /v1/models": () => ({
      object: "list",
      data: [
        {
          id: "Qwen/Qwen2.5-VL-7B-Instruct",
          object: "model",
          created: 1763400000,
          owned_by: "sglang",
          root: "Qwen/Qwen2.5-VL-7B-Instruct",
          parent: null,
          max_model_len: 128_000,
        },
      ],
    }),
    // Older versions have only this route.
    "GET /get_model_info": () => ({
      model_path: "Qwen/Qwen2.5-VL-7B-Instruct",
      tokenizer_path: "Qwen/Qwen2.5-VL-7B-Instruct",
      is_generation: true,
      preferred_sampling_params: null,
      tool_call_parser: "qwen25",
      has_image_understanding: true,
      has_audio_understanding: false,
    }),
    ...openAiRoutes("/v1"),
  },
};

const liteLlmEntry = (id: string) => ({ id, object: "model", created: 1677610602, owned_by: "openai" });

export const liteLlm: ProviderScript = {
  type: "openai-compatible",
  address: "/v1",
  keyHeaders: [bearerKey],
  refusal: jsonReply(
    { error: { message: "Authentication Error", type: "auth_error", param: "None", code: "401" } },
    401,
  ),
  routes: {
    "GET /v1/models": () => ({
      data: ["claude", "vectors", "pictures", "listener", "plain-model"].map(liteLlmEntry),
      object: "list",
    }),
    "GET /model/info": () => ({
      data: [
        {
          model_name: "claude",
          litellm_params: { model: "anthropic/claude-opus-5" },
          model_info: {
            id: "112f74fab24a7a5245d2ced3536dd8f5",
            db_model: false,
            mode: "chat",
            max_input_tokens: 200_000,
            max_output_tokens: 64_000,
            input_cost_per_token: 0.000005,
            output_cost_per_token: 0.000025,
            supports_function_calling: true,
            supports_vision: true,
          },
        },
        { model_name: "vectors", litellm_params: {}, model_info: { mode: "embedding", max_input_tokens: 8191 } },
        { model_name: "pictures", litellm_params: {}, model_info: { mode: "image_generation" } },
        { model_name: "listener", litellm_params: {}, model_info: { mode: "audio_transcription" } },
      ],
    }),
    ...openAiRoutes("/v1"),
  },
};
