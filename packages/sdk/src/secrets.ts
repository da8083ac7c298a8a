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

interface Routes {
  list: { method: "GET"; path: string };
  put(name: string): { method: "PUT"; path: string };
  delete(name: string): { method: "DELETE"; path: string };
}

export function secrets(transport: Transport): Secrets {
  return secretsAt(transport, {
    list: at("GET /api/v2/secrets"),
    put: (name) => at("PUT /api/v2/secrets/{name}", { name }),
    delete: (name) => at("DELETE /api/v2/secrets/{name}", { name }),
  });
}

/** Of the operator, for the operator's providers. */
export function sharedSecrets(transport: Transport): Secrets {
  return secretsAt(transport, {
    list: at("GET /api/v2/admin/secrets"),
    put: (name) => at("PUT /api/v2/admin/secrets/{name}", { name }),
    delete: (name) => at("DELETE /api/v2/admin/secrets/{name}", { name }),
  });
}

function secretsAt({ json, send }: Transport, routes: Routes): Secrets {
  const all: Secrets = {
    list: async ({ signal, ...query } = {}) => json({ ...routes.list, query, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ name }) => name,
      ),
    put: async (name, value, { signal } = {}) => json({ ...routes.put(name), json: { value }, signal }),
    async delete(name, { signal } = {}) {
      await send({ ...routes.delete(name), signal });
    },
  };
  return all;
}
