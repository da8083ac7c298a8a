import type { UpstreamModel } from "@gantry/wire";
import { isRecord } from "../../../../kernel/is-record.ts";
import { billionsFrom, modalitiesFrom, modelOf, recordFrom, textsFrom, tokensFrom } from "../fields.ts";
import { kindByName } from "../kind-by-name.rules.ts";
import { ProviderFailure } from "../provider-failure.ts";
import type { UpstreamCalls, UpstreamReply } from "../upstream-calls.ts";
import { type Entry, entriesOf, modelsOf } from "./read-list.ts";
import { serverOf } from "./server-marks.ts";

const showsAtOnce = 4;
/** Later models of a long list have no details. */
const mostShows = 200;

export async function listOllama(calls: UpstreamCalls): Promise<UpstreamModel[]> {
  const entries = entriesOf(calls, (await tagsOf(calls)).json, "models");
  const [shown, loaded] = await Promise.all([showAll(calls, entries), loadedWindows(calls, entries)]);
  return modelsOf(entries, (entry, id) => readOllama(entry, id, shown.get(id) ?? {}, loaded.get(id)), "name");
}

async function tagsOf(calls: UpstreamCalls): Promise<UpstreamReply> {
  try {
    const reply = await calls.call(`${calls.root}/api/tags`);
    // llama.cpp imitates the list.
    const found = serverOf(reply);
    if (found !== undefined && found !== "ollama") throw calls.fail("other_server", { found });
    return reply;
  } catch (error) {
    if (!(error instanceof ProviderFailure) || error.reason !== "not_found") throw error;
    const other = await calls.find(`${calls.api}/models`);
    if (other === undefined) throw error;
    throw calls.fail("other_server", { found: serverOf({ json: other, headers: {} }) });
  }
}

/** The details of each model. Newer versions have them in the list. */
async function showAll(calls: UpstreamCalls, entries: readonly Entry[]): Promise<Map<string, Entry>> {
  const shown = new Map<string, Entry>();
  const waiting = entries
    .filter((entry) => !Array.isArray(entry.capabilities) || !recordFrom(entry.details).context_length)
    .flatMap(({ name }) => (typeof name === "string" ? [name] : []))
    .slice(0, mostShows);
  const next = async (): Promise<void> => {
    for (let model = waiting.shift(); model !== undefined; model = waiting.shift()) {
      const details = await calls.find(`${calls.root}/api/show`, { body: { model } });
      if (isRecord(details)) shown.set(model, details);
    }
  };
  await Promise.all(Array.from({ length: showsAtOnce }, next));
  return shown;
}

/** A model in memory has the window that the server gave it, which is often much smaller than the model's. */
async function loadedWindows(calls: UpstreamCalls, entries: readonly Entry[]): Promise<Map<string, number>> {
  const windows = new Map<string, number>();
  const running = entries.length > 0 ? recordFrom(await calls.find(`${calls.root}/api/ps`)).models : undefined;
  for (const model of Array.isArray(running) ? running.filter(isRecord) : []) {
    const window = tokensFrom(model.context_length);
    if (typeof model.name === "string" && window !== null) windows.set(model.name, window);
  }
  return windows;
}

function readOllama(entry: Entry, id: string, shown: Entry, loaded: number | undefined): UpstreamModel | undefined {
  const details = { ...recordFrom(shown.details), ...recordFrom(entry.details) };
  const stated = entry.capabilities ?? shown.capabilities;
  const capabilities = Array.isArray(stated) ? textsFrom(stated) : undefined;
  const kind = kindOf(id, capabilities, details);
  if (kind === undefined) return undefined;
  const isText = kind === "text";
  return modelOf(id, kind, {
    context_window: loaded ?? windowOf(shown, details),
    model_size_in_billions: isText ? billionsFrom(details.parameter_size) : null,
    input_modalities: isText ? modalitiesFrom(["text", ...(capabilities ?? [])]) : [],
    tools: isText && capabilities ? capabilities.includes("tools") : null,
  });
}

function kindOf(id: string, capabilities: string[] | undefined, details: Entry): UpstreamModel["kind"] | undefined {
  if (capabilities === undefined) return /bert/.test(String(details.family)) ? "embedding" : kindByName(id);
  if (capabilities.includes("completion")) return "text";
  // Ollama's API for pictures is its own.
  return capabilities.includes("embedding") ? "embedding" : undefined;
}

/** A Modelfile may set a window that is smaller than the model's. */
function windowOf(shown: Entry, details: Entry): number | null {
  const info = recordFrom(shown.model_info);
  const set = /^num_ctx\s+(\d{1,9})\s*$/m.exec(typeof shown.parameters === "string" ? shown.parameters : "")?.[1];
  const name = Object.keys(info).find((field) => field.endsWith(".context_length"));
  return tokensFrom(Number(set), name === undefined ? undefined : info[name], details.context_length);
}
