import { newId } from "@gantry/wire";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { takenDownConflict } from "../models/index.ts";
import { type AgentWithRevision, agentNotFound } from "./agent.ts";
import { requireOwn } from "./agents.ts";
import { boundAgentIds } from "./binding.rules.ts";
import { cycleIssue } from "./check-references.ts";
import { asWarning, checkSnapshot } from "./check-snapshot.ts";
import type { AgentsContext } from "./context.ts";
import { findCycleBeforeWriting } from "./find-cycle.ts";
import { refuseChangeByPlainMember, refusePlainMember } from "./plain-members.ts";
import { refusePrice } from "./prices.ts";
import { readDraft } from "./read-draft.ts";
import { recordAgent } from "./record-agent.ts";
import { insertRevision, lockOwn, setLatest } from "./store.ts";

const maxTries = 10;

/**
 * Replaces the given fields in a new draft revision; the visibility changes at once. Of two concurrent changes, the second
 * is applied to the result of the first and checked again.
 */
export async function changeAgent(
  context: AgentsContext,
  caller: Caller,
  agentId: string,
  body: unknown,
): Promise<AgentWithRevision> {
  let before = await requireOwn(context, caller, agentId);
  const draft = readDraft(body, "change");
  for (let tries = 0; tries < maxTries; tries++) {
    const snapshot = { ...before.revision.snapshot, ...draft.fields };
    refusePrice(caller, draft.fields.pricing, before.revision.snapshot.pricing);
    const { visibility = before.agent.visibility } = draft;
    refusePlainMember(caller, { visibility });
    const sides = { before: before.revision.snapshot, after: snapshot };
    await refuseChangeByPlainMember(context.database.sql, caller, before.agent, sides);
    const found = await checkSnapshot(context, caller, { agentId, visibility, fields: snapshot });
    const isGiven = ({ loc }: Issue) => loc[1] === undefined || Object.hasOwn(draft.fields, loc[1]);
    throwIfAny([...draft.issues, ...draft.placed(found.issues.filter(isGiven))]);
    // Issues in other fields, such as a retired model, do not block the change.
    const stale = found.issues.filter((issue) => !isGiven(issue)).map(asWarning);
    const after = await saveUnlessChanged(before, { snapshot, warnings: [...found.warnings, ...stale] });
    if (after) return after;
    before = await requireOwn(context, caller, agentId);
  }
  throw fault("conflict", "Other requests are changing this agent. Try again.");

  /** Other checks run before, because they are slow and the row is locked here. */
  function saveUnlessChanged(
    from: AgentWithRevision,
    content: Pick<AgentWithRevision["revision"], "snapshot" | "warnings">,
  ): Promise<AgentWithRevision | undefined> {
    return context.database.transaction(async (tx) => {
      const calls = boundAgentIds(draft.fields.tools ?? []);
      const cycle = await findCycleBeforeWriting(tx, caller.userId, agentId, calls);
      if (cycle) throwIfAny([await cycleIssue(tx, caller.userId, agentId, cycle)]);
      const locked = await lockOwn(tx, caller.userId, agentId);
      if (!locked) throw agentNotFound();
      if (locked.latestRevisionId !== from.revision.id) return undefined;
      if (draft.visibility === "public" && locked.takenDown) throw takenDownConflict("agent");
      const now = context.clock.now();
      const revision = {
        ...content,
        id: newId("revision", now.getTime()),
        agentId,
        number: from.revision.number + 1,
        status: "draft" as const,
        createdAt: now,
      };
      const visibility = draft.visibility ?? locked.visibility;
      await insertRevision(tx, revision);
      await setLatest(tx, agentId, { revisionId: revision.id, visibility, now });
      const after = { agent: { ...locked, visibility, latestRevisionId: revision.id, updatedAt: now }, revision };
      await recordAgent(tx, "agent.update", { before: { agent: locked, revision: from.revision }, after });
      return after;
    });
  }
}
