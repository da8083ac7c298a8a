import type { ProviderType, UpstreamModel } from "@gantry/wire";
import { azureVersion } from "./backend-for.ts";
import { listAzure, listBedrock } from "./readers/clouds.ts";
import { listCompatible } from "./readers/compatible.ts";
import { listOllama } from "./readers/ollama.ts";
import { listLlamaCpp, listLmStudio, listSglang, listVllm } from "./readers/self-hosted.ts";
import {
  listAnthropic,
  listByNames,
  listGemini,
  listMistral,
  listOpenAi,
  listOpenRouter,
  listTogether,
} from "./readers/vendors.ts";
import type { UpstreamCalls } from "./upstream-calls.ts";

interface ProviderRow {
  /** Undefined where a server has no models to choose from. */
  list?: (calls: UpstreamCalls) => Promise<UpstreamModel[]>;
  /**
   * What shows that the key is right: the list itself, another route that needs the key and costs nothing, or only a call
   * of a model.
   */
  keyCheck: "list" | "call" | { route: (calls: UpstreamCalls) => string; query?: Record<string, string> };
}

/** How each kind of server is listed and tested. Labels, addresses and keys are in `providerTypes`. */
export const providerRows: Record<ProviderType, ProviderRow> = {
  openai: { list: listOpenAi, keyCheck: "list" },
  anthropic: { list: listAnthropic, keyCheck: "list" },
  gemini: { list: listGemini, keyCheck: "list" },
  /** The list is public. */
  openrouter: { list: listOpenRouter, keyCheck: { route: ({ api }) => `${api}/key` } },
  groq: { list: listByNames, keyCheck: "list" },
  together: { list: listTogether, keyCheck: "list" },
  deepseek: { list: listByNames, keyCheck: "list" },
  mistral: { list: listMistral, keyCheck: "list" },
  /** The list of deployments is older than the rest of the API, so the list of models that could be deployed is asked. */
  azure: { list: listAzure, keyCheck: { route: ({ api }) => `${api}/models` } },
  "azure-deployments": {
    list: listAzure,
    keyCheck: { route: ({ root }) => `${root}/openai/models`, query: { "api-version": azureVersion } },
  },
  bedrock: { list: listBedrock, keyCheck: "list" },
  ollama: { list: listOllama, keyCheck: "call" },
  lmstudio: { list: listLmStudio, keyCheck: "call" },
  llamacpp: { list: listLlamaCpp, keyCheck: "call" },
  vllm: { list: listVllm, keyCheck: "call" },
  sglang: { list: listSglang, keyCheck: "call" },
  "openai-compatible": { list: listCompatible, keyCheck: "call" },
  comfyui: { keyCheck: { route: ({ root }) => `${root}/system_stats` } },
  cog: { keyCheck: { route: ({ root }) => `${root}/health-check` } },
};
