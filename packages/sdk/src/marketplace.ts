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
 * Public, published agents of everybody: how to call them and what a run costs. Run one with `runs.create` under its id or
 * `owner/slug`, and send the card's price as `expected_price`. The agents platform is a preview.
 */
export interface Marketplace {
  /** One page, those with `q` in them. */
  list(options?: { q?: string | undefined } & ListRange & CallOptions): Promise<AgentCardList>;
  /** All of them, read page by page as the loop goes on. */
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
