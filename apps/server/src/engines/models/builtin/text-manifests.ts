import type { BackendConfig, Manifest, ObjectSchema, Pricing } from "@gantry/wire";

/** What `ModelCall.input` of the three text models holds. */
const input: ObjectSchema = {
  type: "object",
  required: ["prompt"],
  properties: {
    prompt: { type: "string", title: "Prompt", description: "What to answer.", minLength: 1 },
    system: {
      type: ["string", "null"],
      title: "System",
      description: "How to answer: the role, the tone, the rules.",
      default: null,
    },
    max_tokens: {
      type: ["integer", "null"],
      title: "Tokens at most",
      description: "The length of the answer at most.",
      minimum: 1,
      maximum: 64_000,
      default: 4096,
    },
    temperature: {
      type: ["number", "null"],
      title: "Temperature",
      description: "How freely the words are chosen: 0 is always the likeliest one.",
      minimum: 0,
      maximum: 2,
      default: null,
    },
    seed: {
      type: ["integer", "null"],
      title: "Seed",
      description: "The same seed and input give the same answer where the model can do that.",
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
    output: { type: "string", title: "Output", description: "The answer, piece by piece.", isStream: true },
  },
};

interface Own {
  title: string;
  description: string;
  context_window: number;
  pricing: Pricing;
  backend: BackendConfig;
}

const textModel = ({ title, description, ...own }: Own): Manifest => ({
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
    "Not a language model but a rule-based planner: it recognises a set of requests, calls the tools that serve them " +
    "and reports what they returned, so that an agent runs without any key. The same input always gives the same answer.",
  context_window: 32_000,
  pricing: {},
  backend: rules,
});

export const textManifest = textModel({
  title: "Gantry Text",
  description:
    "The text model that comes with Gantry. Until a trained model ships it is answered by the rules of gantry/rules: " +
    "not a language model but a rule-based planner.",
  context_window: 32_000,
  pricing: { per_million_input_tokens: 0.1, per_million_output_tokens: 0.4 },
  backend: rules,
});

/** What the operator set in the environment about the agents' default model. */
export interface DefaultModelEnvironment {
  /** Whether ANTHROPIC_API_KEY is set. */
  anthropicKey?: boolean | undefined;
  /** GANTRY_LLM_URL, the base before `/chat/completions`. */
  llmUrl?: string | undefined;
  /** GANTRY_LLM_MODEL. */
  llmModel?: string | undefined;
  /** Whether GANTRY_LLM_KEY is set. */
  llmKey?: boolean | undefined;
}

const defaultAnthropicModel = "claude-sonnet-4-5";

/**
 * The agents' default, by what the environment offers. Its secrets are names of variables: a model of the owner
 * `anthropic` is the operator's, and so are its keys.
 */
export function defaultTextManifest({ anthropicKey, llmUrl, llmModel, llmKey }: DefaultModelEnvironment): Manifest {
  const title = "Default text model";
  const purpose = "The model that agents use unless they name another.";
  if (anthropicKey) {
    return textModel({
      title,
      description: `${purpose} It is answered by the Anthropic API (${defaultAnthropicModel}).`,
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
      description: `${purpose} It is answered by the OpenAI-compatible server that the operator set up.`,
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
      `${purpose} Neither ANTHROPIC_API_KEY nor GANTRY_LLM_URL is set, so it is answered by the rules of ` +
      "gantry/rules: not a language model but a rule-based planner.",
    context_window: 32_000,
    pricing: {},
    backend: rules,
  });
}

/** The text models of a first start, under their endpoint ids. */
export function textModels(
  environment: DefaultModelEnvironment,
): { owner: string; name: string; manifest: Manifest }[] {
  return [
    { owner: "gantry", name: "text", manifest: textManifest },
    { owner: "gantry", name: "rules", manifest: rulesManifest },
    { owner: "anthropic", name: "default", manifest: defaultTextManifest(environment) },
  ];
}
