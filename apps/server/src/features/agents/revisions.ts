import { isDeepStrictEqual } from "node:util";
import {
  type AgentSnapshot,
  type AgentTool,
  isId,
  type ListChange,
  type RevisionDiff,
  type ValueChange,
} from "@gantry/wire";
import type { Caller, Page } from "../accounts/index.ts";
import { type Revision, revisionNotFound } from "./agent.ts";
import { requireOwn } from "./agents.ts";
import { asToolBinding, bindingId, isAgentBinding } from "./binding.rules.ts";
import type { AgentsContext } from "./context.ts";
import { findRevision, findRevisionBefore, listHeads, type RevisionHead, selectRevisionsOf } from "./store.ts";

/** Newest first, without snapshots. */
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

const exportedAtOnce = 100;

/** All revisions of a user's agents, also of deleted ones. */
export async function* exportRevisions({ database }: AgentsContext, { userId }: Caller): AsyncGenerator<Revision> {
  for (let before: string | undefined; ; ) {
    const page: Revision[] = await selectRevisionsOf(database.sql, userId, before, exportedAtOnce);
    yield* page;
    if (page.length < exportedAtOnce) return;
    before = page.at(-1)?.id;
  }
}

/** Changes since the previous revision, or since `against`. */
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

/** Fields that are lists of items with an id. */
const lists = {
  tools: (snapshot: AgentSnapshot) => byId(snapshot.tools, bindingId, wholeBinding),
  drives: (snapshot: AgentSnapshot) => byId(snapshot.drives, (id) => id),
  mcp_servers: (snapshot: AgentSnapshot) => byId(snapshot.mcp_servers, ({ id }) => id),
};

/** Fields that differ; without `before`, all. Of lists, only the order of drives counts: the first is the default. */
export function diffSnapshots(before: AgentSnapshot | undefined, after: AgentSnapshot): RevisionDiff["changes"] {
  const changes: Record<string, ListChange | ValueChange> = {};
  // Revisions of earlier versions lack fields of later ones.
  for (const field of Object.keys({ ...before, ...after }) as (keyof AgentSnapshot)[]) {
    const change = field in lists ? diffList(field as keyof typeof lists) : diffValue(field);
    if (change) changes[field] = change;
  }
  return changes;

  function diffList(field: keyof typeof lists): ListChange | undefined {
    const old: ReadonlyMap<string, unknown> = before ? lists[field](before) : new Map();
    const now: ReadonlyMap<string, unknown> = lists[field](after);
    const added = [...now.keys()].filter((id) => !old.has(id));
    const removed = [...old.keys()].filter((id) => !now.has(id));
    const kept = [...now.keys()].filter((id) => old.has(id));
    const inOldOrder = [...old.keys()].filter((id) => now.has(id));
    const isMoved = (at: number) => field === "drives" && kept[at] !== inOldOrder[at];
    const changed = kept.filter((id, at) => isMoved(at) || !isDeepStrictEqual(now.get(id), old.get(id)));
    if (added.length + removed.length + changed.length === 0) return undefined;
    return { added, removed, ...(changed.length > 0 && { changed }) };
  }

  function diffValue(field: keyof AgentSnapshot): ValueChange | undefined {
    const old = before?.[field] ?? null;
    const now = after[field] ?? null;
    return isDeepStrictEqual(old, now) ? undefined : { old, new: now };
  }
}

function byId<T>(entries: readonly T[], idOf: (entry: T) => string, whole: (entry: T) => unknown = (entry) => entry) {
  return new Map<string, unknown>(entries.map((entry) => [idOf(entry), whole(entry)]));
}

function wholeBinding(tool: AgentTool): unknown {
  return isAgentBinding(tool) ? tool : asToolBinding(tool);
}
