import type { BackendConfig, Manifest, ObjectSchema, Pricing } from "@gantry/wire";

/** Shared by the three text models. */
const input: ObjectSchema = {
  type: "object",
  required: ["prompt"],
  properties: {
    prompt: { type: "string", title: "Prompt", description: "The question or task.", minLength: 1 },
    system: {
      type: ["string", "null"],
      title: "System",
      description: "Instructions for the answer: role, tone, rules.",
      default: null,
    },
    max_tokens: {
      type: ["integer", "null"],
      title: "Max tokens",
      description: "Maximum length of the answer, in tokens.",
      minimum: 1,
      maximum: 64_000,
      default: 4096,
    },
    temperature: {
      type: ["number", "null"],
      title: "Temperature",
      description: "Sampling temperature. At 0 the model always chooses the most likely token.",
      minimum: 0,
      maximum: 2,
      default: null,
    },
    seed: {
      type: ["integer", "null"],
      title: "Seed",
      description: "The same seed and input give the same answer, if the model supports seeds.",
      minimum: 0,
      maximum: 2_147_483_647,
      default: null,
    },
  },
};

const output: ObjectSchema = {
  type: "object",
  required: ["output"],
  properties: {
    output: { type: "string", title: "Output", description: "The answer, streamed.", isStream: true },
  },
};

interface TextModel {
  title: string;
  description: string;
  context_window: number;
  pricing: Pricing;
  backend: BackendConfig;
}

const textModel = ({ title, description, ...own }: TextModel): Manifest => ({
  title,
  description,
  kind: "text",
  visibility: "public",
  capacity: 256,
  timeout_seconds: 300,
  max_queue_seconds: 86_400,
  ...own,
  input,
  output,
});

const rules: BackendConfig = { type: "builtin", model: "rules" };

export const rulesManifest = textModel({
  title: "Gantry Rules",
  description:
    "A rule-based planner, not a language model. It recognises a set of requests, calls the matching tools and reports " +
    "their results, so that agents run without an API key. The same input always gives the same answer.",
  context_window: 32_000,
  pricing: {},
  backend: rules,
});

export const textManifest = textModel({
  title: "Gantry Text",
  description:
    "The text model that comes with Gantry. Until a trained model ships, gantry/rules answers: a rule-based planner, " +
    "not a language model.",
  context_window: 32_000,
  pricing: { per_million_input_tokens: 0.1, per_million_output_tokens: 0.4 },
  backend: rules,
});

/** Settings of the agents' default model. */
export interface DefaultModelEnvironment {
  /** Whether ANTHROPIC_API_KEY is set. */
  anthropicKey?: boolean | undefined;
  /** GANTRY_LLM_URL: the base URL, without `/chat/completions`. */
  llmUrl?: string | undefined;
  /** GANTRY_LLM_MODEL. */
  llmModel?: string | undefined;
  /** Whether GANTRY_LLM_KEY is set. */
  llmKey?: boolean | undefined;
}

const defaultAnthropicModel = "claude-sonnet-4-5";

/** Secrets of the owner `anthropic` are names of environment variables, because the operator owns its models. */
export function defaultTextManifest({ anthropicKey, llmUrl, llmModel, llmKey }: DefaultModelEnvironment): Manifest {
  const title = "Default text model";
  const purpose = "The model that agents use by default.";
  if (anthropicKey) {
    return textModel({
      title,
      description: `${purpose} Answers come from the Anthropic API (${defaultAnthropicModel}).`,
      context_window: 200_000,
      pricing: {
        per_million_input_tokens: 3,
        per_million_cached_tokens: 0.3,
        per_million_cache_write_tokens: 3.75,
        per_million_output_tokens: 15,
      },
      backend: { type: "anthropic", model: defaultAnthropicModel, secret: "ANTHROPIC_API_KEY" },
    });
  }
  if (llmUrl) {
    return textModel({
      title,
      description: `${purpose} Answers come from the operator's OpenAI-compatible server.`,
      context_window: 32_000,
      pricing: {},
      backend: {
        type: "openai-chat",
        url: llmUrl,
        model: llmModel || "default",
        ...(llmKey && { secret: "GANTRY_LLM_KEY" }),
      },
    });
  }
  return textModel({
    title,
    description:
      `${purpose} Neither ANTHROPIC_API_KEY nor GANTRY_LLM_URL is set, so gantry/rules answers: a rule-based planner, ` +
      "not a language model.",
    context_window: 32_000,
    pricing: {},
    backend: rules,
  });
}

/** The text models that a new server starts with. */
export function textModels(
  environment: DefaultModelEnvironment,
): { owner: string; name: string; manifest: Manifest }[] {
  return [
    { owner: "gantry", name: "text", manifest: textManifest },
    { owner: "gantry", name: "rules", manifest: rulesManifest },
    { owner: "anthropic", name: "default", manifest: defaultTextManifest(environment) },
  ];
}
