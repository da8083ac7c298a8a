import type { AliasRecord } from "@gantry/wire";
import { at } from "./address.ts";
import { eachOf, type Page, type PageQuery } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Names for models and agents, which OpenAI and Anthropic clients and your agents can use. */
export interface Aliases {
  list(options?: PageQuery & CallOptions): Promise<Page<AliasRecord>>;
  /** Iterates over all entries, page by page. */
  each(options?: CallOptions): AsyncGenerator<AliasRecord>;
  /** Creates or changes an alias. `model`: `owner/model` or `agents/creator/slug`. */
  put(name: string, model: string, options?: CallOptions): Promise<AliasRecord>;
  delete(name: string, options?: CallOptions): Promise<void>;
}

interface Routes {
  list: { method: "GET"; path: string };
  put(name: string): { method: "PUT"; path: string };
  delete(name: string): { method: "DELETE"; path: string };
}

export function aliases(transport: Transport): Aliases {
  return aliasesAt(transport, {
    list: at("GET /api/v2/aliases"),
    put: (name) => at("PUT /api/v2/aliases/{name}", { name }),
    delete: (name) => at("DELETE /api/v2/aliases/{name}", { name }),
  });
}

/** For all users. */
export function sharedAliases(transport: Transport): Aliases {
  return aliasesAt(transport, {
    list: at("GET /api/v2/admin/aliases"),
    put: (name) => at("PUT /api/v2/admin/aliases/{name}", { name }),
    delete: (name) => at("DELETE /api/v2/admin/aliases/{name}", { name }),
  });
}

function aliasesAt({ json, send }: Transport, routes: Routes): Aliases {
  const all: Aliases = {
    list: async ({ signal, ...query } = {}) => json({ ...routes.list, query, signal }),
    each: (options) =>
      eachOf(
        (range) => all.list({ ...options, ...range }),
        ({ name }) => name,
      ),
    put: async (name, model, { signal } = {}) => json({ ...routes.put(name), json: { model }, signal }),
    async delete(name, { signal } = {}) {
      await send({ ...routes.delete(name), signal });
    },
  };
  return all;
}
