import type { BackendRecord, Manifest, ManifestPatch, TakenDown } from "@gantry/wire";
import { at, modelParams } from "./address.ts";
import { eachOf, type Page, type PageQuery } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";
import type { WithDefaults } from "./with-defaults.ts";

/** A model for its callers: address, input, output and price. */
export interface ModelCard extends Omit<Manifest, "backend" | "backends"> {
  /** `owner/name`, used to call the model. */
  endpoint_id: string;
  owner: string;
  name: string;
  /** Only for the owner and admins. */
  backend?: Manifest["backend"];
  /** Instead of `backend`, if the model has several. Only for the owner and admins. */
  backends?: Manifest["backends"];
  /** Set if an admin took the model down: it stays private until restored. Only for the owner and admins. */
  taken_down?: TakenDown;
  version: number;
  created_at: string;
  updated_at: string;
  urls: Record<string, string>;
}

/** Required fields, and fields with a default. Has either `backend` or `backends`. A `cog` backend and the kind `embedding` need no input and output. */
export type NewModel = WithDefaults<Manifest, "kind">;

/** The fields to change. */
export type ModelChange = WithDefaults<ManifestPatch, never>;

export interface ModelFilter {
  kind?: Manifest["kind"] | undefined;
  q?: string | undefined;
}

export interface Models {
  /** One page of the models that you may call. */
  list(options?: PageQuery & CallOptions & ModelFilter): Promise<Page<ModelCard>>;
  /** Iterates over all entries, page by page. */
  each(options?: CallOptions & ModelFilter): AsyncGenerator<ModelCard>;
  card(model: string, options?: CallOptions): Promise<ModelCard>;
  /** The model's own OpenAPI document, with the exact schemas of its input and output. */
  openapi(model: string, options?: CallOptions): Promise<Record<string, unknown>>;
  /** Creates or replaces a model of yours, or as an admin of any user. */
  put(model: string, manifest: NewModel, options?: CallOptions): Promise<ModelCard>;
  /** Send only the fields to change, each as a whole; null removes an optional field or resets it. */
  update(model: string, change: ModelChange, options?: CallOptions): Promise<ModelCard>;
  /** Deletes a model. Accepted predictions still finish; new ones are refused. */
  delete(model: string, options?: CallOptions): Promise<void>;
  /** The backends of a model of yours, with their state and figures. */
  backends(model: string, options?: PageQuery & CallOptions): Promise<Page<BackendRecord>>;
  /** Restores a deleted built-in model in its current version. Only for admins. */
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
    backends: async (model, { signal, ...query } = {}) =>
      json({ ...at("GET /api/v1/{owner}/{model}/backends", modelParams(model)), query, signal }),
    restore: async (model, { signal } = {}) =>
      json({ ...at("POST /api/v1/{owner}/{model}/restore", modelParams(model)), signal }),
  };
  return all;
}
