import type { UpstreamModel } from "@gantry/wire";
import { isRecord } from "../../../../kernel/is-record.ts";
import { booleanFrom, modalitiesFrom, modelOf, recordFrom, textsFrom, tokensFrom } from "../fields.ts";
import { kindByName } from "../kind-by-name.rules.ts";
import { dollarsPerMillion } from "../prices.rules.ts";
import type { UpstreamCalls } from "../upstream-calls.ts";
import { cursorFrom, type Entry, entriesOf, modelsOf, type ReadEntry, readPages } from "./read-list.ts";

/** Models that answer only in OpenAI's Responses API. */
const responsesOnly = /(?:^|-)(?:codex|deep-research|computer-use)(?:-|$)|^(?:o\d|gpt-[\d.]+)-pro(?:-\d|$)/;

/** OpenAI states nothing but names. */
export async function listOpenAi(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const { json } = await calls.call(`${calls.api}/models`);
  return modelsOf(entriesOf(calls, json, "data"), (_entry, id) => {
    const kind = responsesOnly.test(id) ? undefined : kindByName(id);
    return kind && modelOf(id, kind);
  });
}

/** DeepSeek has names only. Groq adds limits and lists retired models. */
export async function listByNames(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const { json } = await calls.call(`${calls.api}/models`);
  return modelsOf(entriesOf(calls, json, "data"), (entry, id) => {
    const kind = entry.active === false ? undefined : kindByName(id);
    if (kind === undefined) return undefined;
    return modelOf(id, kind, {
      context_window: tokensFrom(entry.context_window),
      max_output_tokens: kind === "text" ? tokensFrom(entry.max_completion_tokens) : null,
    });
  });
}

export async function listAnthropic(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const entries = await readPages(calls, `${calls.api}/models`, { limit: "1000" }, "data", (page) => {
    const after = page.has_more === true ? cursorFrom(page.last_id) : undefined;
    return after === undefined ? undefined : { limit: "1000", after_id: after };
  });
  return modelsOf(entries, (entry, id) => {
    if (entry.lifecycle === "retired") return undefined;
    const capabilities = recordFrom(entry.capabilities);
    const supports = (name: string) => recordFrom(capabilities[name]).supported === true;
    return modelOf(id, "text", {
      title: entry.display_name,
      context_window: tokensFrom(entry.max_input_tokens),
      max_output_tokens: tokensFrom(entry.max_tokens),
      input_modalities: modalitiesFrom([
        "text",
        ...(supports("image_input") ? ["image"] : []),
        ...(supports("pdf_input") ? ["file"] : []),
      ]),
    });
  });
}

export async function listGemini(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const entries = await readPages(calls, `${calls.api}/models`, { pageSize: "1000" }, "models", (page) => {
    const token = cursorFrom(page.nextPageToken);
    return token === undefined ? undefined : { pageSize: "1000", pageToken: token };
  });
  return modelsOf(entries, readGemini, "name");
}

function readGemini(entry: Entry, name: string): UpstreamModel | undefined {
  const id = name.replace(/^models\//, "");
  const methods = textsFrom(entry.supportedGenerationMethods);
  const described = {
    title: entry.displayName,
    description: entry.description,
    context_window: tokensFrom(entry.inputTokenLimit),
  };
  if (methods.includes("embedContent")) return modelOf(id, "embedding", described);
  // Models for pictures and speech have the same method, and nothing but their name tells.
  if (!methods.includes("generateContent") || kindByName(id) !== "text") return undefined;
  return modelOf(id, "text", { ...described, max_output_tokens: tokensFrom(entry.outputTokenLimit) });
}

export async function listOpenRouter(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const kinds = { output_modalities: "text,embeddings" };
  const entries = await readPages(calls, `${calls.api}/models`, kinds, "data", (page) => {
    const link = cursorFrom(recordFrom(page.links).next);
    const query = link === undefined ? undefined : URL.parse(link, calls.api)?.searchParams;
    return query && { ...kinds, ...Object.fromEntries(query) };
  });
  return modelsOf(entries, readOpenRouter);
}

function readOpenRouter(entry: Entry, id: string): UpstreamModel | undefined {
  const architecture = recordFrom(entry.architecture);
  const outputs = modalitiesFrom(architecture.output_modalities);
  const isEmbedding = outputs.includes("embedding");
  if (!isEmbedding && outputs.length > 0 && !outputs.includes("text")) return undefined;
  const top = recordFrom(entry.top_provider);
  const parameters = Array.isArray(entry.supported_parameters) ? textsFrom(entry.supported_parameters) : undefined;
  return modelOf(id, isEmbedding ? "embedding" : "text", {
    title: entry.name,
    description: entry.description,
    context_window: tokensFrom(top.context_length, entry.context_length),
    max_output_tokens: isEmbedding ? null : tokensFrom(top.max_completion_tokens),
    input_modalities: modalitiesFrom(architecture.input_modalities),
    output_modalities: outputs,
    tools: isEmbedding || parameters === undefined ? null : parameters.includes("tools"),
    pricing: openRouterPricing(recordFrom(entry.pricing), isEmbedding),
  });
}

/** Prices of one token, as texts. A router has -1, because its price depends on the model that it chooses. */
function openRouterPricing(prices: Entry, isEmbedding: boolean): UpstreamModel["pricing"] {
  const input = dollarsPerMillion(prices.prompt, 6);
  const output = isEmbedding ? 0 : dollarsPerMillion(prices.completion, 6);
  if (input === undefined || output === undefined) return null;
  const request = dollarsPerMillion(prices.request, 0);
  const cached = dollarsPerMillion(prices.input_cache_read, 6);
  const written = dollarsPerMillion(prices.input_cache_write, 6);
  return {
    per_million_input_tokens: input,
    ...(!isEmbedding && { per_million_output_tokens: output }),
    ...(cached !== undefined && { per_million_cached_tokens: cached }),
    ...(written !== undefined && { per_million_cache_write_tokens: written }),
    ...(request !== undefined && request > 0 && { per_request: request }),
  };
}

/** Base models complete texts but do not chat. */
const togetherKinds: Readonly<Record<string, UpstreamModel["kind"]>> = {
  chat: "text",
  embedding: "embedding",
  image: "image",
};

/** The answer is a bare array. */
export async function listTogether(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const { json } = await calls.call(`${calls.api}/models`);
  return modelsOf(entriesOf(calls, Array.isArray(json) ? { data: json } : json, "data"), (entry, id) => {
    const kind = typeof entry.type === "string" ? togetherKinds[entry.type] : kindByName(id);
    if (kind === undefined) return undefined;
    return modelOf(id, kind, {
      title: entry.display_name,
      context_window: tokensFrom(entry.context_length),
      pricing: kind === "image" ? null : togetherPricing(recordFrom(entry.pricing), kind),
    });
  });
}

/** Prices of a million tokens. Models that run only on dedicated machines, at a price by the hour, have zeros. */
function togetherPricing(prices: Entry, kind: UpstreamModel["kind"]): UpstreamModel["pricing"] {
  const input = dollarsPerMillion(prices.input, 0);
  const output = dollarsPerMillion(prices.output, 0) ?? 0;
  if (input === undefined || (input === 0 && output === 0)) return null;
  const cached = dollarsPerMillion(prices.cached_input, 0);
  return {
    per_million_input_tokens: input,
    ...(kind === "text" && { per_million_output_tokens: output }),
    ...(cached !== undefined && cached > 0 && { per_million_cached_tokens: cached }),
  };
}

export async function listMistral(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const { json } = await calls.call(`${calls.api}/models`);
  return modelsOf(entriesOf(calls, json, "data"), readMistral);
}

const readMistral: ReadEntry = (entry, id) => {
  if (entry.archived === true) return undefined;
  const { capabilities } = entry;
  const stated = {
    description: entry.description,
    context_window: tokensFrom(entry.max_context_length),
  };
  const byName = kindByName(id);
  if (!isRecord(capabilities) || byName === "embedding") return byName && modelOf(id, byName, stated);
  if (capabilities.completion_chat !== true) return undefined;
  return modelOf(id, "text", {
    ...stated,
    input_modalities: modalitiesFrom(["text", ...(capabilities.vision === true ? ["image"] : [])]),
    tools: booleanFrom(capabilities.function_calling),
  });
};
