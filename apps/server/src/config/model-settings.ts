import { headerValue, optional, optionalFlag, webAddress } from "./setting-kinds.ts";

/** Language models of the operator. */
export const modelSettings = {
  ANTHROPIC_API_KEY: headerValue("Anthropic API key. If set, anthropic/default uses the Anthropic API."),
  GANTRY_LLM_URL: webAddress(
    "OpenAI-compatible server for anthropic/default: the base URL before /chat/completions. " +
      "Ignored, with a warning, if ANTHROPIC_API_KEY is set.",
  ),
  GANTRY_LLM_MODEL: optional(
    'Model name to request from GANTRY_LLM_URL. If unset, "default". ' +
      "Without GANTRY_LLM_URL, the model to use of a server found on this machine.",
  ),
  GANTRY_LLM_KEY: headerValue("API key for GANTRY_LLM_URL."),
  GANTRY_FIND_MODELS: optionalFlag(
    "Whether to look for Ollama, LM Studio and llama.cpp on this machine at start. anthropic/default and gantry/text use what is " +
      "found. Only with GANTRY_ROLE=all.",
    "1 with the embedded database, otherwise 0",
  ),
  OLLAMA_HOST: optional(
    "Ollama's own setting: the address and port on which it listens. Addresses of other machines are ignored.",
  ),
  OPENAI_API_KEY: headerValue("OpenAI API key. If set, admins can import models from the provider `openai`."),
  GEMINI_API_KEY: headerValue("Google Gemini API key. If set, admins can import models from the provider `gemini`."),
  OPENROUTER_API_KEY: headerValue(
    "OpenRouter API key. If set, admins can import models from the provider `openrouter`.",
  ),
} as const;
