import type { AgentCard } from "@gantry/wire";
import { at } from "./address.ts";
import { eachListed, type ListRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface AgentCardList {
  agents: AgentCard[];
  total: number;
  limit: number;
  offset: number;
}

/**
 * Public agents of all users: how to call them and what a run costs. Run one with `runs.create` by its id or
 * `owner/slug`, and send the card's price as `expected_price`. The agents platform is a preview.
 */
export interface Marketplace {
  /** One page, filtered by `q`. */
  list(options?: { q?: string | undefined } & ListRange & CallOptions): Promise<AgentCardList>;
  /** Iterates over all entries, page by page. */
  each(options?: { q?: string | undefined } & CallOptions): AsyncGenerator<AgentCard>;
}

export function marketplace({ json }: Transport): Marketplace {
  const all: Marketplace = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /v1/marketplace/agents"), query, signal }),
    each: (options) =>
      eachListed(
        async (range) => {
          const { agents: entries, total } = await all.list({ ...options, ...range });
          return { entries, total };
        },
        ({ id }) => id,
      ),
  };
  return all;
}
