import type { UpstreamModel } from "@gantry/wire";
import { isRecord } from "../../../../kernel/is-record.ts";
import { booleanFrom, modalitiesFrom, modelOf, recordFrom, textsFrom, tokensFrom } from "../fields.ts";
import { kindByName } from "../kind-by-name.rules.ts";
import type { UpstreamCalls } from "../upstream-calls.ts";
import { type Entry, entriesOf, modelsOf } from "./read-list.ts";
import { listOfType } from "./server-marks.ts";

/** LM Studio's own list says more than the compatible one, which older versions have alone. */
export async function listLmStudio(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const own = await calls.find(`${calls.root}/api/v0/models`);
  if (isRecord(own) && Array.isArray(own.data)) return modelsOf(entriesOf(calls, own, "data"), readLmStudio);
  const { json } = await listOfType(calls);
  return modelsOf(entriesOf(calls, json, "data"), (_entry, id) => byName(id));
}

function readLmStudio(entry: Entry, id: string): UpstreamModel | undefined {
  // A loaded model has the window that it was loaded with.
  const window = tokensFrom(entry.loaded_context_length, entry.max_context_length);
  if (entry.type === "embeddings" || entry.type === "embedding")
    return modelOf(id, "embedding", { context_window: window });
  if (entry.type !== "llm" && entry.type !== "vlm") return undefined;
  return modelOf(id, "text", {
    context_window: window,
    input_modalities: modalitiesFrom(entry.type === "vlm" ? ["text", "image"] : ["text"]),
    tools: Array.isArray(entry.capabilities) ? entry.capabilities.includes("tool_use") : null,
  });
}

/** One model, or those that a router starts on demand. The window is that of a slot, not of the model. */
export async function listLlamaCpp(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const { json } = await listOfType(calls);
  const entries = entriesOf(calls, json, "data");
  const props = recordFrom(await calls.find(`${calls.root}/props`));
  const single = props.role === "router" || entries.length !== 1 ? {} : props;
  return modelsOf(entries, (entry, id) => readLlamaCpp(entry, id, single));
}

function readLlamaCpp(entry: Entry, id: string, props: Entry): UpstreamModel | undefined {
  const kind = kindByName(id);
  if (kind === undefined) return undefined;
  const meta = recordFrom(entry.meta);
  const context_window = tokensFrom(recordFrom(props.default_generation_settings).n_ctx, meta.n_ctx, meta.n_ctx_train);
  const parameters = tokensFromParameters(meta.n_params);
  if (kind !== "text") return modelOf(id, kind, { title: titleOf(id), context_window });
  const senses = recordFrom(props.modalities);
  const seen = Object.keys(senses).filter((name) => senses[name] === true);
  return modelOf(id, kind, {
    title: titleOf(id),
    context_window,
    model_size_in_billions: parameters,
    input_modalities: modalitiesFrom(["text", ...seen, ...textsFrom(recordFrom(entry.architecture).input_modalities)]),
    tools: booleanFrom(recordFrom(props.chat_template_caps).supports_tools),
  });
}

/** By default the id is the path of the file. */
function titleOf(id: string): string {
  return id.slice(Math.max(id.lastIndexOf("/"), id.lastIndexOf("\\")) + 1).replace(/\.gguf$/i, "");
}

function tokensFromParameters(count: unknown): number | null {
  return typeof count === "number" && count >= 1e6 && count < 1e14 ? Math.round(count / 1e6) / 1000 : null;
}

/** An adapter has no window of its own but that of its base model. */
function windowOf(entry: Entry, entries: readonly Entry[]): number | null {
  const base = entries.find(({ id }) => id === entry.parent);
  return tokensFrom(entry.max_model_len, base?.max_model_len);
}

export async function listVllm(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const { json } = await listOfType(calls);
  const entries = entriesOf(calls, json, "data");
  return modelsOf(entries, (entry, id) => {
    // A served name may be an alias; the root is the model itself.
    const byRoot = typeof entry.root === "string" && entry.parent == null ? kindByName(entry.root) : "text";
    const kind = byRoot === "text" ? kindByName(id) : byRoot;
    return kind && modelOf(id, kind, { context_window: windowOf(entry, entries) });
  });
}

export async function listSglang(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const { json } = await listOfType(calls);
  const entries = entriesOf(calls, json, "data");
  const info = (await calls.find(`${calls.root}/model_info`)) ?? (await calls.find(`${calls.root}/get_model_info`));
  const stated = recordFrom(info);
  return modelsOf(entries, (entry, id) => {
    const kind = stated.is_generation === false ? "embedding" : stated.is_generation === true ? "text" : kindByName(id);
    if (kind === undefined) return undefined;
    const context_window = windowOf(entry, entries);
    if (kind !== "text") return modelOf(id, kind, { context_window });
    return modelOf(id, kind, {
      context_window,
      input_modalities: modalitiesFrom([
        "text",
        ...(stated.has_image_understanding === true ? ["image"] : []),
        ...(stated.has_audio_understanding === true ? ["audio"] : []),
      ]),
      // Without a parser, calls of tools stay in the text.
      tools: "tool_call_parser" in stated ? stated.tool_call_parser !== null : null,
    });
  });
}

function byName(id: string): UpstreamModel | undefined {
  const kind = kindByName(id);
  return kind && modelOf(id, kind);
}
