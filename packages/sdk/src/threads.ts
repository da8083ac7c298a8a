import type { ThreadDetails, ThreadRecord } from "@gantry/wire";
import { at } from "./address.ts";
import { eachListed, type ListRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface ThreadList {
  threads: ThreadRecord[];
  total: number;
  limit: number;
  offset: number;
}

export interface ThreadFilter {
  agent_id?: string | undefined;
}

/** Conversations with agents. The first run with a `thread_id` creates the thread. */
export interface Threads {
  /** One page, those with the newest run first. */
  list(options?: ThreadFilter & ListRange & CallOptions): Promise<ThreadList>;
  /** Iterates over all entries, page by page. */
  each(options?: ThreadFilter & CallOptions): AsyncGenerator<ThreadRecord>;
  /** With its last 100 turns, or those before the run `before`. */
  get(id: string, options?: { before?: string | undefined } & CallOptions): Promise<ThreadDetails>;
  /** Deletes the thread and its runs. Refused while a run of the thread has not ended. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

export function threads({ json, send }: Transport): Threads {
  const all: Threads = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /v1/threads"), query, signal }),
    each: (options) =>
      eachListed(
        async (range) => {
          const { threads: entries, total } = await all.list({ ...options, ...range });
          return { entries, total };
        },
        ({ id }) => id,
      ),
    get: async (thread_id, { signal, ...query } = {}) =>
      json({ ...at("GET /v1/threads/{thread_id}", { thread_id }), query, signal }),
    async delete(thread_id, { signal } = {}) {
      await send({ ...at("DELETE /v1/threads/{thread_id}", { thread_id }), signal });
    },
  };
  return all;
}
