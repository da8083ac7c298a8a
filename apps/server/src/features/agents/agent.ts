import type { AgentSnapshot, AgentVisibility, AgentWarning, RevisionStatus, TakenDown } from "@gantry/wire";
import { type Fault, fault } from "../../kernel/errors.ts";

/**
 * An agent without its snapshot.
 *
 *   (create) ──► unpublished ──publish──► published          deleted: hidden from everyone; rows stay for its runs
 */
export interface Agent {
  readonly id: string;
  readonly ownerId: string;
  readonly owner: string;
  readonly slug: string;
  readonly visibility: AgentVisibility;
  /** Set while an admin has taken the agent down: it is private until restored. */
  readonly takenDown: TakenDown | null;
  readonly latestRevisionId: string;
  readonly publishedRevisionId: string | null;
  readonly publishedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/**
 * A version of an agent. The snapshot never changes; the status does:
 *
 *   (create, patch) ──► draft ──publish──► published ──another is published──► superseded
 *                                              ▲                                       │
 *                                              └────────────────publish────────────────┘
 */
export interface Revision {
  readonly id: string;
  readonly agentId: string;
  /** From 1, per agent. */
  readonly number: number;
  readonly status: RevisionStatus;
  readonly snapshot: AgentSnapshot;
  readonly warnings: readonly AgentWarning[];
  readonly createdAt: Date;
}

/** An agent with a revision: the latest for the owner, the published one for others. */
export interface AgentWithRevision {
  readonly agent: Agent;
  readonly revision: Revision;
}

/** An agent as the caller may see it: whole, or as a card. */
export interface SeenAgent extends AgentWithRevision {
  isCard: boolean;
}

/** In dollars; null for the caller's own agent, which costs it no price. */
export function priceFor({ userId }: { userId: string }, { agent, revision }: AgentWithRevision): number | null {
  return agent.ownerId === userId ? null : revision.snapshot.pricing.per_run;
}

export function agentNotFound(): Fault {
  return fault("not_found", "Agent not found");
}

export function revisionNotFound(): Fault {
  return fault("not_found", "Revision not found");
}
