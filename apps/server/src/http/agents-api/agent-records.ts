import type {
  AgentActivity,
  AgentCard,
  AgentCreatedRecord,
  AgentRecord,
  RevisionEntry,
  RevisionRecord,
} from "@gantry/wire";
import type { Agent, AgentCosts, AgentWithRevision, Revision, RevisionHead } from "../../features/agents/index.ts";
import type { Listing } from "../../features/marketplace/index.ts";

const statusOf = ({ publishedRevisionId }: Agent) => (publishedRevisionId === null ? "unpublished" : "published");

export function agentCreatedRecord({ agent, revision }: AgentWithRevision): AgentCreatedRecord {
  return {
    id: agent.id,
    name: revision.snapshot.name,
    status: statusOf(agent),
    revision_id: revision.id,
    created_at: agent.createdAt.toISOString(),
    visibility: agent.visibility,
    slug: agent.slug,
    warnings: [...revision.warnings],
  };
}

/** An agent as its owner reads it. */
export function agentRecord({ agent, revision }: AgentWithRevision, activity: AgentActivity): AgentRecord {
  return {
    id: agent.id,
    slug: agent.slug,
    owner: agent.owner,
    ...revision.snapshot,
    description: revision.snapshot.description ?? null,
    webhook: revision.snapshot.webhook ?? null,
    memory: revision.snapshot.memory ?? null,
    status: statusOf(agent),
    visibility: agent.visibility,
    ...(agent.takenDown && { taken_down: { at: agent.takenDown.at, reason: agent.takenDown.reason } }),
    published_revision_id: agent.publishedRevisionId,
    latest_revision_id: agent.latestRevisionId,
    warnings: [...revision.warnings],
    activity,
    created_at: agent.createdAt.toISOString(),
    updated_at: agent.updatedAt.toISOString(),
  };
}

/** An agent as other users see it. Field by field, so that new fields of a snapshot stay private. */
export function agentCard(
  listing: Listing,
  { models, agents, connectors }: AgentCosts,
  activity: AgentActivity,
): AgentCard {
  return {
    id: listing.id,
    slug: listing.slug,
    owner: listing.owner,
    name: listing.name,
    description: listing.description,
    status: "published",
    visibility: listing.visibility,
    input_schema: listing.inputSchema,
    output_schema: listing.outputSchema,
    pricing: listing.pricing,
    models,
    agents,
    connectors,
    activity,
    created_at: listing.createdAt.toISOString(),
    published_at: listing.publishedAt.toISOString(),
  };
}

/** An agent found by its id, as the marketplace lists it. */
export function listingOf({ agent, revision }: AgentWithRevision): Listing {
  return {
    id: agent.id,
    slug: agent.slug,
    owner: agent.owner,
    visibility: agent.visibility,
    name: revision.snapshot.name,
    description: revision.snapshot.description ?? null,
    inputSchema: revision.snapshot.input_schema,
    outputSchema: revision.snapshot.output_schema,
    pricing: revision.snapshot.pricing,
    createdAt: agent.createdAt,
    publishedAt: agent.publishedAt ?? revision.createdAt,
  };
}

export function revisionEntry({ id, number, status, createdAt }: RevisionHead): RevisionEntry {
  return { id, number, status, created_at: createdAt.toISOString() };
}

export function revisionRecord(revision: Revision): RevisionRecord {
  return {
    ...revisionEntry(revision),
    agent_id: revision.agentId,
    ...revision.snapshot,
    description: revision.snapshot.description ?? null,
    webhook: revision.snapshot.webhook ?? null,
    memory: revision.snapshot.memory ?? null,
    warnings: [...revision.warnings],
  };
}
