import type { AgentCard, AgentRecord } from "@gantry/sdk";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

export const agentQuery = (id: string) =>
  queryOptions({ queryKey: ["agents", "one", id], queryFn: ({ signal }) => api.agents.get(id, { signal }) });

/** Owners get the full record, unless their key is confined to models. */
export const isOwn = (agent: AgentRecord | AgentCard): agent is AgentRecord => "goal" in agent;

export const revisionsQuery = (id: string) =>
  queryOptions({
    queryKey: ["agents", "revisions", id],
    queryFn: ({ signal }) => api.agents.revisions.list(id, { signal }),
  });

export const revisionQuery = (agentId: string, revisionId: string) =>
  queryOptions({
    queryKey: ["agents", "revision", { agentId, revisionId }],
    queryFn: ({ signal }) => api.agents.revisions.get(agentId, revisionId, { signal }),
  });

export const diffQuery = (agentId: string, revisionId: string, against: string | undefined) =>
  queryOptions({
    queryKey: ["agents", "diff", { agentId, revisionId, against }],
    queryFn: ({ signal }) => api.agents.revisions.diff(agentId, revisionId, { against, signal }),
    // Revisions are immutable.
    staleTime: Number.POSITIVE_INFINITY,
  });

const minutes = 60_000;

export const toolsQuery = queryOptions({
  queryKey: ["tools"],
  queryFn: ({ signal }) => api.agents.tools({ signal }),
  staleTime: 5 * minutes,
});

export const textModelsQuery = queryOptions({
  queryKey: ["models", "text"],
  queryFn: ({ signal }) => Array.fromAsync(api.models.each({ kind: "text", signal })),
  staleTime: minutes,
});

export const ownAliasesQuery = queryOptions({
  queryKey: ["aliases", "names"],
  // An alias may stand for an agent, which cannot be the model of another.
  queryFn: async ({ signal }) =>
    (await Array.fromAsync(api.aliases.each({ signal }))).filter(({ model }) => !model.startsWith("agents/")),
  staleTime: minutes,
});

export const ownAgentsQuery = queryOptions({
  queryKey: ["agents", "all"],
  queryFn: ({ signal }) => Array.fromAsync(api.agents.each({ signal })),
});
