import type { Manifest, ManifestPatch, TakenDown } from "@gantry/wire";
import { at, modelParams } from "./address.ts";
import { eachOf, type Page, type PageQuery } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";
import type { WithDefaults } from "./with-defaults.ts";

/** A model as its callers see it: where it is, what it takes, gives and costs. */
export interface ModelCard extends Omit<Manifest, "backend"> {
  /** `owner/name`, by which it is called. */
  endpoint_id: string;
  owner: string;
  name: string;
  /** For its owner and for admins. */
  backend?: Manifest["backend"];
  /** Only when an admin took it down: it stays private until an admin restores it. For its owner and for admins. */
  taken_down?: TakenDown;
  version: number;
  created_at: string;
  updated_at: string;
  urls: Record<string, string>;
}

/** What a model needs, and what has a default: its title is its name. A `cog` backend can tell its own input and output. */
export type NewModel = WithDefaults<Manifest, "kind" | "backend">;

/** The fields to change. */
export type ModelChange = WithDefaults<ManifestPatch, never>;

export interface ModelFilter {
  kind?: Manifest["kind"] | undefined;
  q?: string | undefined;
}

export interface Models {
  /** Those that the caller may call; one page. */
  list(options?: PageQuery & CallOptions & ModelFilter): Promise<Page<ModelCard>>;
  /** All of those, read page by page as the loop goes on. */
  each(options?: CallOptions & ModelFilter): AsyncGenerator<ModelCard>;
  card(model: string, options?: CallOptions): Promise<ModelCard>;
  /** The model's own OpenAPI document, with the exact schemas of its input and output. */
  openapi(model: string, options?: CallOptions): Promise<Record<string, unknown>>;
  /** Makes one of the caller's own models, or replaces it; an admin, anyone's. */
  put(model: string, manifest: NewModel, options?: CallOptions): Promise<ModelCard>;
  /** Only the fields to change, each as a whole; null takes an optional one away, or back to its default. */
  update(model: string, change: ModelChange, options?: CallOptions): Promise<ModelCard>;
  /** Retires it: what was accepted still ends, nothing new is. */
  delete(model: string, options?: CallOptions): Promise<void>;
  /** Brings back a model that Gantry ships and that was deleted, as it ships now. For admins. */
  restore(model: string, options?: CallOptions): Promise<ModelCard>;
}

export function models({ json, send }: Transport): Models {
  const all: Models = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v1"), query, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ endpoint_id }) => endpoint_id,
      ),
    card: async (model, { signal } = {}) => json({ ...at("GET /api/v1/{owner}/{model}", modelParams(model)), signal }),
    openapi: async (model, { signal } = {}) =>
      json({ ...at("GET /api/v1/{owner}/{model}/openapi.json", modelParams(model)), signal }),
    put: async (model, manifest, { signal } = {}) =>
      json({ ...at("PUT /api/v1/{owner}/{model}", modelParams(model)), json: manifest, signal }),
    update: async (model, change, { signal } = {}) =>
      json({ ...at("PATCH /api/v1/{owner}/{model}", modelParams(model)), json: change, signal }),
    async delete(model, { signal } = {}) {
      await send({ ...at("DELETE /api/v1/{owner}/{model}", modelParams(model)), signal });
    },
    restore: async (model, { signal } = {}) =>
      json({ ...at("POST /api/v1/{owner}/{model}/restore", modelParams(model)), signal }),
  };
  return all;
}
