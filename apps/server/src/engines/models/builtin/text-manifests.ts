import { type BackendConfig, type Manifest, type Pricing, textInput, textOutput } from "@gantry/wire";

interface TextModel {
  title: string;
  description: string;
  context_window: number;
  model_size_in_billions?: number;
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
  input: textInput({ mostTokens: 64_000 }),
  output: textOutput,
});

const rules: BackendConfig = { type: "builtin", model: "rules" };
const defaultWindow = 32_000;

export const rulesManifest = textModel({
  title: "Gantry Rules",
  description:
    "A rule-based planner, not a language model. It recognises a set of requests, calls the matching tools and reports " +
    "their results, so that agents run without an API key. The same input always gives the same answer.",
  context_window: defaultWindow,
  pricing: {},
  backend: rules,
});

/** A language model on the server's own machine, found at start. */
export interface LocalModel {
  /** Of the server, such as Ollama. */
  label: string;
  /** How to call it. */
  backend: BackendConfig;
  contextWindow: number | null;
  sizeInBillions: number | null;
}

const ofLocal = ({ backend, contextWindow, sizeInBillions }: LocalModel) => ({
  context_window: contextWindow ?? defaultWindow,
  ...(sizeInBillions !== null && { model_size_in_billions: sizeInBillions }),
  backend,
});

const fromLocal = ({ label, backend }: LocalModel) =>
  `Answers come from ${label} on the server's machine (${backend.model}).`;

const ownText = {
  title: "Gantry Text",
  purpose: "The text model that comes with Gantry.",
  pricing: { per_million_input_tokens: 0.1, per_million_output_tokens: 0.4 },
};

/** `gantry/text` without a language model on the server's machine. */
export const textManifest = textModel({
  title: ownText.title,
  description:
    `${ownText.purpose} No language model was found on the server's machine, so gantry/rules answers: a rule-based ` +
    "planner, not a language model.",
  context_window: defaultWindow,
  pricing: ownText.pricing,
  backend: rules,
});

function ownTextManifest(local: LocalModel | undefined): Manifest {
  if (!local) return textManifest;
  const { title, purpose, pricing } = ownText;
  return textModel({ title, description: `${purpose} ${fromLocal(local)}`, pricing, ...ofLocal(local) });
}

/** What the built-in text models can use, in this order. */
export interface TextModelSources {
  /** Whether ANTHROPIC_API_KEY is set. */
  anthropicKey?: boolean | undefined;
  /** GANTRY_LLM_URL: the base URL, without `/chat/completions`. */
  llmUrl?: string | undefined;
  /** GANTRY_LLM_MODEL. */
  llmModel?: string | undefined;
  /** Whether GANTRY_LLM_KEY is set. */
  llmKey?: boolean | undefined;
  local?: LocalModel | undefined;
}

const defaultAnthropicModel = "claude-sonnet-4-5";

/** Secrets of the owner `anthropic` are names of environment variables, because the operator owns its models. */
export function defaultTextManifest({ anthropicKey, llmUrl, llmModel, llmKey, local }: TextModelSources): Manifest {
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
      context_window: defaultWindow,
      pricing: {},
      backend: {
        type: "openai-chat",
        url: llmUrl,
        model: llmModel || "default",
        ...(llmKey && { secret: "GANTRY_LLM_KEY" }),
      },
    });
  }
  if (local) {
    return textModel({ title, description: `${purpose} ${fromLocal(local)}`, pricing: {}, ...ofLocal(local) });
  }
  return textModel({
    title,
    description:
      `${purpose} Neither ANTHROPIC_API_KEY nor GANTRY_LLM_URL is set, and no language model was found on the server's ` +
      "machine, so gantry/rules answers: a rule-based planner, not a language model.",
    context_window: defaultWindow,
    pricing: {},
    backend: rules,
  });
}

/** The text models that a new server starts with. */
export function textModels(sources: TextModelSources): { owner: string; name: string; manifest: Manifest }[] {
  return [
    { owner: "gantry", name: "text", manifest: ownTextManifest(sources.local) },
    { owner: "gantry", name: "rules", manifest: rulesManifest },
    { owner: "anthropic", name: "default", manifest: defaultTextManifest(sources) },
  ];
}
