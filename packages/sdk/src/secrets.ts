import type { SecretRecord } from "@gantry/wire";
import { at } from "./address.ts";
import { eachOf, type Page, type PageQuery } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Credentials for the backends of your models, stored under a name and never shown. */
export interface Secrets {
  list(options?: PageQuery & CallOptions): Promise<Page<SecretRecord>>;
  /** Iterates over all entries, page by page. */
  each(options?: CallOptions): AsyncGenerator<SecretRecord>;
  /** Creates or replaces a secret. */
  put(name: string, value: string, options?: CallOptions): Promise<SecretRecord>;
  delete(name: string, options?: CallOptions): Promise<void>;
}

export function secrets({ json, send }: Transport): Secrets {
  const all: Secrets = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/secrets"), query, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ name }) => name,
      ),
    put: async (name, value, { signal } = {}) =>
      json({ ...at("PUT /api/v2/secrets/{name}", { name }), json: { value }, signal }),
    async delete(name, { signal } = {}) {
      await send({ ...at("DELETE /api/v2/secrets/{name}", { name }), signal });
    },
  };
  return all;
}
