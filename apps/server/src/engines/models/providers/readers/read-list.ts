import type { UpstreamModel } from "@gantry/wire";
import { isRecord } from "../../../../kernel/is-record.ts";
import { idFrom, withoutRepeats } from "../fields.ts";
import type { UpstreamCalls } from "../upstream-calls.ts";

export type Entry = Record<string, unknown>;
/** Undefined for a model that Gantry cannot call. */
export type ReadEntry = (entry: Entry, id: string) => UpstreamModel | undefined;

/** The largest known vendor lists a tenth of it. */
const mostModels = 5000;
const mostPages = 20;

export function entriesOf(calls: UpstreamCalls, json: unknown, field: string): Entry[] {
  const list = isRecord(json) ? json[field] : undefined;
  // Ollama's list without models is null.
  if (list === null) return [];
  if (!Array.isArray(list)) throw calls.fail("not_a_list");
  if (list.length > mostModels) throw calls.fail("too_large");
  return list.filter(isRecord);
}

export function modelsOf(entries: readonly Entry[], read: ReadEntry, idField = "id"): UpstreamModel[] {
  const models = entries.flatMap((entry) => {
    const id = idFrom(entry[idField]);
    return id === undefined ? [] : (read(entry, id) ?? []);
  });
  return withoutRepeats(models);
}

/** Lists in pages. `next` returns the query of the next page. */
export async function readPages(
  calls: UpstreamCalls,
  url: string,
  first: Record<string, string>,
  field: string,
  next: (page: Entry) => Record<string, string> | undefined,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let query: Record<string, string> | undefined = first;
  for (let page = 0; query !== undefined; page++) {
    if (page === mostPages) throw calls.fail("too_large");
    const { json } = await calls.call(url, { query });
    entries.push(...entriesOf(calls, json, field));
    if (entries.length > mostModels) throw calls.fail("too_large");
    query = isRecord(json) ? next(json) : undefined;
  }
  return entries;
}

/** A short text that goes back to the server, such as a cursor. */
export function cursorFrom(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= 2048 ? value : undefined;
}
