import { isId, type RevisionDiff } from "@gantry/wire";
import type { Caller, Page } from "../accounts/index.ts";
import type { Revision } from "./agent.ts";
import { revisionNotFound } from "./agent-faults.ts";
import type { AgentsContext } from "./context.ts";
import { diffSnapshots } from "./diff.rules.ts";
import { requireOwn } from "./read-agent.ts";
import { findRevision, findRevisionBefore, listHeads, type RevisionHead } from "./store.ts";

/** The revisions of an own agent without their contents, newest first. */
export async function listRevisions(
  context: AgentsContext,
  caller: Caller,
  agentId: string,
  range: { limit: number; offset: number },
): Promise<Page<RevisionHead>> {
  await requireOwn(context, caller, agentId);
  return listHeads(context.database.sql, agentId, range);
}

export async function readRevision(
  context: AgentsContext,
  caller: Caller,
  agentId: string,
  revisionId: string,
): Promise<Revision> {
  await requireOwn(context, caller, agentId);
  const revision = isId("revision", revisionId)
    ? await findRevision(context.database.sql, agentId, revisionId)
    : undefined;
  if (!revision) throw revisionNotFound();
  return revision;
}

/** What is other in a revision than in the one before it, or than in another one of the agent. */
export async function diffRevision(
  context: AgentsContext,
  caller: Caller,
  agentId: string,
  revisionId: string,
  against: string | undefined,
): Promise<RevisionDiff> {
  const revision = await readRevision(context, caller, agentId, revisionId);
  const before =
    against === undefined
      ? await findRevisionBefore(context.database.sql, revision)
      : await readRevision(context, caller, agentId, against);
  return { changes: diffSnapshots(before?.snapshot, revision.snapshot) };
}
