import type { RevisionDiff, RevisionEntry, RevisionRecord } from "@gantry/wire";
import { at } from "./address.ts";
import type { ListRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface RevisionList {
  revisions: RevisionEntry[];
  total: number;
  limit: number;
  offset: number;
}

/** The history of an agent. */
export interface Revisions {
  /** Newest first; `limit` is 100 by default. */
  list(agentId: string, options?: ListRange & CallOptions): Promise<RevisionList>;
  get(agentId: string, revisionId: string, options?: CallOptions): Promise<RevisionRecord>;
  /** Compares with the previous revision, or the given one. */
  diff(
    agentId: string,
    revisionId: string,
    options?: { against?: string | undefined } & CallOptions,
  ): Promise<RevisionDiff>;
}

export function revisions({ json }: Transport): Revisions {
  return {
    list: async (agent_id, { signal, ...query } = {}) =>
      json({ ...at("GET /v1/agents/{agent_id}/revisions", { agent_id }), query, signal }),
    get: async (agent_id, revision_id, { signal } = {}) =>
      json({ ...at("GET /v1/agents/{agent_id}/revisions/{revision_id}", { agent_id, revision_id }), signal }),
    diff: async (agent_id, revision_id, { signal, ...query } = {}) =>
      json({
        ...at("GET /v1/agents/{agent_id}/revisions/{revision_id}/diff", { agent_id, revision_id }),
        query,
        signal,
      }),
  };
}
