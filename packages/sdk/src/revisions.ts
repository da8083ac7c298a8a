import type { RevisionDiff, RevisionEntry, RevisionRecord } from "@gantry/wire";
import { segment, withQuery } from "./address.ts";
import type { ListRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface RevisionList {
  revisions: RevisionEntry[];
  total: number;
  limit: number;
  offset: number;
}

/** What an agent was, change by change. */
export interface Revisions {
  /** Newest first; `limit` is 100 by default. */
  list(agentId: string, options?: ListRange & CallOptions): Promise<RevisionList>;
  get(agentId: string, revisionId: string, options?: CallOptions): Promise<RevisionRecord>;
  /** What it changed of the one before it, or of the one that is named. */
  diff(
    agentId: string,
    revisionId: string,
    options?: { against?: string | undefined } & CallOptions,
  ): Promise<RevisionDiff>;
}

export function revisions({ json }: Transport): Revisions {
  const of = (agentId: string) => `/v1/agents/${segment(agentId)}/revisions`;
  return {
    list: async (agentId, { signal, ...query } = {}) =>
      json({ method: "GET", path: withQuery(of(agentId), query), signal }),
    get: async (agentId, revisionId, { signal } = {}) =>
      json({ method: "GET", path: `${of(agentId)}/${segment(revisionId)}`, signal }),
    diff: async (agentId, revisionId, { signal, ...query } = {}) =>
      json({ method: "GET", path: withQuery(`${of(agentId)}/${segment(revisionId)}/diff`, query), signal }),
  };
}
