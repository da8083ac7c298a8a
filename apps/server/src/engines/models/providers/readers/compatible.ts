import type { UpstreamModel } from "@gantry/wire";
import { isRecord } from "../../../../kernel/is-record.ts";
import { booleanFrom, idFrom, modalitiesFrom, modelOf, recordFrom, tokensFrom } from "../fields.ts";
import { kindByName } from "../kind-by-name.rules.ts";
import type { UpstreamCalls } from "../upstream-calls.ts";
import { type Entry, entriesOf, modelsOf } from "./read-list.ts";

/** Words of servers for what a model does. Others are for models that Gantry cannot call. */
const kindsByWord: Readonly<Record<string, UpstreamModel["kind"]>> = {
  chat: "text",
  completion: "text",
  llm: "text",
  vlm: "text",
  text: "text",
  embedding: "embedding",
  embeddings: "embedding",
  image: "image",
  image_generation: "image",
};

/** Any server with OpenAI's list. Most servers state only the name. */
export async function listCompatible(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const { json } = await calls.call(`${calls.api}/models`);
  const entries = entriesOf(calls, Array.isArray(json) ? { data: json } : json, "data");
  const details = entries.length > 0 ? await liteLlmDetails(calls) : new Map<string, Entry>();
  return modelsOf(entries, (entry, id) => {
    const info = details.get(id);
    return info === undefined ? readCompatible(entry, id) : readLiteLlm(info, id);
  });
}

function readCompatible(entry: Entry, id: string): UpstreamModel | undefined {
  const word = typeof entry.type === "string" && entry.type !== "model" ? entry.type : entry.mode;
  const kind = typeof word === "string" ? kindsByWord[word.toLowerCase()] : kindByName(id);
  if (kind === undefined) return undefined;
  const meta = recordFrom(entry.meta);
  const architecture = recordFrom(entry.architecture);
  return modelOf(id, kind, {
    title: entry.display_name ?? entry.name,
    context_window: tokensFrom(
      entry.context_length,
      entry.context_window,
      entry.max_model_len,
      entry.max_context_length,
      entry.max_input_tokens,
      meta.n_ctx,
      meta.n_ctx_train,
    ),
    max_output_tokens: kind === "text" ? tokensFrom(entry.max_completion_tokens, entry.max_output_tokens) : null,
    input_modalities: modalitiesFrom(architecture.input_modalities ?? entry.input_modalities),
  });
}

/**
 * What a LiteLLM proxy knows about its models, by their public names. Its prices are the vendors' list prices, which may
 * not be what the proxy's owner asks for, so they are not taken.
 */
async function liteLlmDetails(calls: UpstreamCalls): Promise<Map<string, Entry>> {
  const json = await calls.find(`${calls.root}/model/info`);
  const data = isRecord(json) && Array.isArray(json.data) ? json.data.filter(isRecord) : [];
  const details = new Map<string, Entry>();
  for (const { model_name: name, model_info: info } of data) {
    const id = idFrom(name);
    // A name may have several deployments.
    if (id !== undefined && isRecord(info) && !details.has(id)) details.set(id, info);
  }
  return details;
}

function readLiteLlm(info: Entry, id: string): UpstreamModel | undefined {
  const kind = typeof info.mode === "string" ? kindsByWord[info.mode] : kindByName(id);
  if (kind === undefined) return undefined;
  const isText = kind === "text";
  return modelOf(id, kind, {
    context_window: tokensFrom(info.max_input_tokens),
    max_output_tokens: isText ? tokensFrom(info.max_output_tokens) : null,
    input_modalities: modalitiesFrom(["text", ...(isText && info.supports_vision === true ? ["image"] : [])]),
    tools: isText ? booleanFrom(info.supports_function_calling) : null,
  });
}
