import { azure, azureDeployments, bedrock } from "./clouds.ts";
import { liteLlm, sglang, vllm } from "./gpu-servers.ts";
import { mistral, openRouter, together } from "./priced-vendors.ts";
import type { ProviderScript } from "./provider-server.ts";
import { llamaCpp, lmStudio, ollama } from "./self-hosted.ts";
import { anthropic, deepSeek, gemini, groq, openAi } from "./vendors.ts";

/** A server of every kind that lists models. */
export const providerScripts: readonly ProviderScript[] = [
  openAi,
  anthropic,
  gemini,
  openRouter,
  groq,
  together,
  deepSeek,
  mistral,
  azure,
  azureDeployments,
  bedrock,
  ollama,
  lmStudio,
  llamaCpp,
  vllm,
  sglang,
  liteLlm,
];
