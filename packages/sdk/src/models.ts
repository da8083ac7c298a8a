import type { Manifest } from "@gantry/wire";
import { modelPath, withQuery } from "./address.ts";
import type { Page, PageQuery } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** A model as its callers see it: where it is, what it takes, gives and costs. */
export interface ModelCard extends Omit<Manifest, "backend"> {
  /** `owner/name`, by which it is called. */
  endpoint_id: string;
  owner: string;
  name: string;
  /** For its owner and for admins. */
  backend?: Manifest["backend"];
  version: number;
  created_at: string;
  updated_at: string;
  urls: Record<string, string>;
}

export interface Models {
  /** Those that the caller may call. */
  list(options?: PageQuery & CallOptions & { kind?: Manifest["kind"]; q?: string }): Promise<Page<ModelCard>>;
  card(model: string, options?: CallOptions): Promise<ModelCard>;
  /** The model's own OpenAPI document, with the exact schemas of its input and output. */
  openapi(model: string, options?: CallOptions): Promise<Record<string, unknown>>;
}

export function models({ json }: Transport): Models {
  return {
    list: async ({ signal, ...query } = {}) => json({ method: "GET", path: withQuery("/api/v1", query), signal }),
    card: async (model, { signal } = {}) => json({ method: "GET", path: modelPath(model), signal }),
    openapi: async (model, { signal } = {}) =>
      json({ method: "GET", path: `${modelPath(model)}/openapi.json`, signal }),
  };
}
