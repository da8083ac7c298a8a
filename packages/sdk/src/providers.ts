import type {
  DiscoveredModel,
  DiscoveryRecord,
  ImportBody,
  ImportRecord,
  ProviderRecord,
  ProviderTestRecord,
  PutProviderBody,
} from "@gantry/wire";
import { at } from "./address.ts";
import { eachOf, type Page, type PageQuery } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** A model to import, by its id at the provider. */
export type ImportChoice = NonNullable<ImportBody["models"]>[number];

/** What became of one model. */
export type ImportResult = ImportRecord["results"][number];

/** Servers whose models you can import: vendors, or your own Ollama, vLLM, ComfyUI and others. */
export interface Providers {
  list(options?: PageQuery & CallOptions): Promise<Page<ProviderRecord>>;
  /** Iterates over all entries, page by page. */
  each(options?: CallOptions): AsyncGenerator<ProviderRecord>;
  get(name: string, options?: CallOptions): Promise<ProviderRecord>;
  /** Creates or replaces a provider. Models imported before keep their backend until you import them again. */
  put(name: string, provider: PutProviderBody, options?: CallOptions): Promise<ProviderRecord>;
  /** Models that were imported from it stay. */
  delete(name: string, options?: CallOptions): Promise<void>;
  /** Makes one cheap call. A failure is an answer with `ok: false`, not an error. */
  test(name: string, options?: { model?: string | undefined } & CallOptions): Promise<ProviderTestRecord>;
  /** Lists the models that the provider serves. */
  discover(name: string, options?: CallOptions): Promise<DiscoveredModel[]>;
  /**
   * Creates or updates models. Without a list, all models that were imported before are updated. Fields that you edited
   * since the last import stay.
   */
  import(name: string, models?: readonly ImportChoice[], options?: CallOptions): Promise<ImportResult[]>;
}

interface Routes {
  list: { method: "GET"; path: string };
  one(name: string): { method: "GET"; path: string };
  put(name: string): { method: "PUT"; path: string };
  delete(name: string): { method: "DELETE"; path: string };
  test(name: string): { method: "POST"; path: string };
  discover(name: string): { method: "POST"; path: string };
  import(name: string): { method: "POST"; path: string };
}

export function providers(transport: Transport): Providers {
  return providersAt(transport, {
    list: at("GET /api/v2/providers"),
    one: (name) => at("GET /api/v2/providers/{name}", { name }),
    put: (name) => at("PUT /api/v2/providers/{name}", { name }),
    delete: (name) => at("DELETE /api/v2/providers/{name}", { name }),
    test: (name) => at("POST /api/v2/providers/{name}/test", { name }),
    discover: (name) => at("POST /api/v2/providers/{name}/discover", { name }),
    import: (name) => at("POST /api/v2/providers/{name}/import", { name }),
  });
}

/** Of the operator: their models are offered to all users. */
export function sharedProviders(transport: Transport): Providers {
  return providersAt(transport, {
    list: at("GET /api/v2/admin/providers"),
    one: (name) => at("GET /api/v2/admin/providers/{name}", { name }),
    put: (name) => at("PUT /api/v2/admin/providers/{name}", { name }),
    delete: (name) => at("DELETE /api/v2/admin/providers/{name}", { name }),
    test: (name) => at("POST /api/v2/admin/providers/{name}/test", { name }),
    discover: (name) => at("POST /api/v2/admin/providers/{name}/discover", { name }),
    import: (name) => at("POST /api/v2/admin/providers/{name}/import", { name }),
  });
}

function providersAt({ json, send }: Transport, routes: Routes): Providers {
  const all: Providers = {
    list: async ({ signal, ...query } = {}) => json({ ...routes.list, query, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ owner, name }) => `${owner}/${name}`,
      ),
    get: async (name, { signal } = {}) => json({ ...routes.one(name), signal }),
    put: async (name, provider, { signal } = {}) => json({ ...routes.put(name), json: provider, signal }),
    async delete(name, { signal } = {}) {
      await send({ ...routes.delete(name), signal });
    },
    test: async (name, { signal, model } = {}) =>
      json({ ...routes.test(name), json: model === undefined ? {} : { model }, signal }),
    async discover(name, { signal } = {}) {
      return (await json<DiscoveryRecord>({ ...routes.discover(name), signal })).models;
    },
    async import(name, models, { signal } = {}) {
      const body = models === undefined ? {} : { models };
      return (await json<ImportRecord>({ ...routes.import(name), json: body, signal })).results;
    },
  };
  return all;
}
