import type { AgentSnapshot, AgentVisibility, AgentWarning, RevisionStatus, TakenDown } from "@gantry/wire";
import { type Fault, fault } from "../../kernel/errors.ts";

/**
 * An agent without its contents.
 *
 *   (create) ──► unpublished ──publish──► published          deleted: gone for everyone, its rows stay for its runs
 */
export interface Agent {
  readonly id: string;
  readonly ownerId: string;
  readonly owner: string;
  readonly slug: string;
  readonly visibility: AgentVisibility;
  /** An admin took it away from everyone but its owner: it is private until it is restored. */
  readonly takenDown: TakenDown | null;
  readonly latestRevisionId: string;
  readonly publishedRevisionId: string | null;
  readonly publishedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/**
 * The contents of an agent at one time. A snapshot never changes; its status does:
 *
 *   (create, patch) ──► draft ──publish──► published ──another one is published──► superseded
 *                                              ▲                                       │
 *                                              └────────────────publish────────────────┘
 */
export interface Revision {
  readonly id: string;
  readonly agentId: string;
  /** Counts from 1 within the agent. */
  readonly number: number;
  readonly status: RevisionStatus;
  readonly snapshot: AgentSnapshot;
  readonly warnings: readonly AgentWarning[];
  readonly createdAt: Date;
}

/** An agent with one of its revisions: the latest for its owner, the published one for everybody else. */
export interface AgentWithRevision {
  readonly agent: Agent;
  readonly revision: Revision;
}

/** An agent as a caller reads it: whole, or as the card that others see. */
export interface SeenAgent extends AgentWithRevision {
  isCard: boolean;
}

export function agentNotFound(): Fault {
  return fault("not_found", "Agent not found");
}

export function revisionNotFound(): Fault {
  return fault("not_found", "Revision not found");
}
