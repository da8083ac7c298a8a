import {
  type Manifest,
  type ObjectSchema,
  type ProviderPreset,
  type ProviderType,
  providerTypes,
  textInput,
  textOutput,
  type UpstreamModel,
} from "@gantry/wire";
import type { Offer, Provider, ProviderOwner } from "./provider.ts";

interface Load {
  capacity: number;
  timeout_seconds: number;
}

const hosted: Load = { capacity: 64, timeout_seconds: 300 };
/** One machine for one person: a model is loaded at its first call, and few calls run at once. */
const personal: Load = { capacity: 4, timeout_seconds: 600 };
/** Batches many calls. */
const batching: Load = { capacity: 64, timeout_seconds: 600 };
/** Runs one call after the other. */
const single: Load = { capacity: 1, timeout_seconds: 900 };

const loads: Partial<Record<ProviderType, Load>> = {
  ollama: personal,
  lmstudio: personal,
  llamacpp: personal,
  vllm: batching,
  sglang: batching,
  "openai-compatible": { capacity: 16, timeout_seconds: 600 },
  comfyui: single,
  cog: single,
};

/** The longest answer that callers may ask for, if the upstream states no limit. */
const mostTokens = 64_000;
/** Reserved for a chat client that sets no limit, so that a large limit of the upstream does not block a small wallet. */
const mostReserved = 32_768;

export function manifestFor(
  provider: Provider,
  { isOperator }: ProviderOwner,
  offer: Offer,
  before: Manifest | undefined,
): Record<string, unknown> {
  const { model } = offer;
  return {
    title: model.title.slice(0, 200) || model.id,
    description: descriptionOf(provider, model),
    kind: model.kind,
    visibility: isOperator ? "public" : "private",
    ...(loads[provider.type] ?? hosted),
    ...(model.kind === "text" && textFigures(model)),
    // A vendor that stops stating its prices must not make the model free.
    pricing: model.pricing ?? before?.pricing ?? {},
    ...(offer.manifest ?? fieldsFor(model)),
    backend: offer.backend,
  };
}

function descriptionOf({ type }: Provider, { description }: UpstreamModel): string {
  const label = type === "openai-compatible" ? "an OpenAI-compatible server" : providerTypes[type].label;
  const own = description.trim();
  return `${own}${own === "" || /[.!?…]$/.test(own) ? "" : "."} Served by ${label}.`.trim();
}

function textFigures(model: UpstreamModel): Partial<Manifest> {
  const { context_window: context, max_output_tokens: output, model_size_in_billions: size } = model;
  return {
    ...(context !== null && { context_window: context }),
    ...(output !== null && { max_output_tokens: Math.min(output, mostReserved) }),
    ...(size !== null && { model_size_in_billions: size }),
  };
}

/** Embedding models have the same fields everywhere, so a manifest may leave them out. */
function fieldsFor(model: UpstreamModel): Partial<Pick<Manifest, "input" | "output">> {
  const readsImages = model.input_modalities.includes("image");
  if (model.kind === "embedding") return {};
  if (model.kind === "image") return { input: imageInput(readsImages), output: imageOutput };
  const most = model.max_output_tokens ?? Math.min(model.context_window ?? mostTokens, mostTokens);
  return { input: textInput({ mostTokens: most, readsImages }), output: textOutput };
}

function imageInput(edits: boolean): ObjectSchema {
  return {
    type: "object",
    required: ["prompt"],
    properties: {
      prompt: { type: "string", title: "Prompt", description: "What the picture shows.", minLength: 1 },
      size: {
        type: ["string", "null"],
        title: "Size",
        description: "Width x height in pixels, such as 1024x1024. Default: the model's choice.",
        maxLength: 20,
        default: null,
      },
      ...(edits && {
        image: {
          type: ["string", "null"],
          format: "binary",
          "x-media": "image",
          title: "Image",
          description: "A picture to change as the prompt says.",
          default: null,
        },
      }),
    },
  };
}

const imageOutput: ObjectSchema = {
  type: "object",
  required: ["image"],
  properties: { image: { type: "string", format: "binary", "x-media": "image", title: "Image" } },
};

/** An operator's model must not give a vendor's calls away by mistake. Zero is a price. */
export function priceRefusal(
  { type }: Provider,
  { isOperator }: ProviderOwner,
  { title, pricing }: Manifest,
): string | undefined {
  const preset: ProviderPreset = providerTypes[type];
  if (!isOperator || !preset.isHosted || Object.keys(pricing).length > 0) return undefined;
  return `Give a price for ${title}: ${preset.label} bills its calls and states no price. Set it to 0 to make it free.`;
}
