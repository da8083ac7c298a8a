export interface ProviderPreset {
  label: string;
  /** Used if the provider has no address of its own. */
  url?: string;
  /** Shown where the address must be given. */
  urlExample?: string;
  key: "required" | "optional" | "none";
  /** A vendor bills its calls. Calls of a self-hosted server are free unless its owner sets a price. */
  isHosted: boolean;
}

/** Kinds of servers whose models can be imported. */
export const providerTypes = {
  openai: { label: "OpenAI", url: "https://api.openai.com/v1", key: "required", isHosted: true },
  anthropic: { label: "Anthropic", url: "https://api.anthropic.com", key: "required", isHosted: true },
  gemini: {
    label: "Google Gemini",
    url: "https://generativelanguage.googleapis.com/v1beta",
    key: "required",
    isHosted: true,
  },
  openrouter: { label: "OpenRouter", url: "https://openrouter.ai/api/v1", key: "required", isHosted: true },
  groq: { label: "Groq", url: "https://api.groq.com/openai/v1", key: "required", isHosted: true },
  together: { label: "Together AI", url: "https://api.together.xyz/v1", key: "required", isHosted: true },
  deepseek: { label: "DeepSeek", url: "https://api.deepseek.com/v1", key: "required", isHosted: true },
  mistral: { label: "Mistral", url: "https://api.mistral.ai/v1", key: "required", isHosted: true },
  azure: {
    label: "Azure OpenAI",
    urlExample: "https://RESOURCE.openai.azure.com/openai/v1",
    key: "required",
    isHosted: true,
  },
  "azure-deployments": {
    label: "Azure OpenAI (deployments)",
    urlExample: "https://RESOURCE.openai.azure.com",
    key: "required",
    isHosted: true,
  },
  bedrock: {
    label: "Amazon Bedrock",
    urlExample: "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1",
    key: "required",
    isHosted: true,
  },
  ollama: { label: "Ollama", url: "http://127.0.0.1:11434", key: "optional", isHosted: false },
  lmstudio: { label: "LM Studio", url: "http://127.0.0.1:1234", key: "optional", isHosted: false },
  llamacpp: { label: "llama.cpp", url: "http://127.0.0.1:8080", key: "optional", isHosted: false },
  vllm: { label: "vLLM", urlExample: "http://gpu.example:8000", key: "optional", isHosted: false },
  sglang: { label: "SGLang", urlExample: "http://gpu.example:30000", key: "optional", isHosted: false },
  "openai-compatible": {
    label: "Other OpenAI-compatible server",
    urlExample: "https://llm.example/v1",
    key: "optional",
    isHosted: false,
  },
  comfyui: { label: "ComfyUI", url: "http://127.0.0.1:8188", key: "optional", isHosted: false },
  cog: { label: "Cog", urlExample: "http://gpu.example:5000", key: "optional", isHosted: false },
} as const satisfies Record<string, ProviderPreset>;

export type ProviderType = keyof typeof providerTypes;
