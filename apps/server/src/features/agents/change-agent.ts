import { newId } from "@gantry/wire";
import { fault, type Issue, throwIfAny } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { takenDownConflict } from "../models/index.ts";
import { type AgentWithRevision, agentNotFound } from "./agent.ts";
import { requireOwn } from "./agents.ts";
import { boundAgentIds } from "./binding.rules.ts";
import { asWarning, checkSnapshot } from "./check-snapshot.ts";
import { circleIssue } from "./check-surroundings.ts";
import type { AgentsContext } from "./context.ts";
import { findCircleBeforeWriting } from "./find-circle.ts";
import { refusePrice } from "./prices.ts";
import { readDraft } from "./read-draft.ts";
import { insertRevision, lockOwn, setLatest } from "./store.ts";

const maxTries = 10;

/**
 * Changes the given fields, each as a whole, in a new draft revision; the visibility changes at once. Two changes at the
 * same time both take effect: the later one is laid over what the other left, and checked again.
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
    const found = await checkSnapshot(context, caller, { agentId, visibility, fields: snapshot });
    const isGiven = ({ loc }: Issue) => loc[1] === undefined || Object.hasOwn(draft.fields, loc[1]);
    throwIfAny([...draft.issues, ...draft.placed(found.issues.filter(isGiven))]);
    // What stood already and no longer holds (a model that was retired) does not keep anything else from being changed.
    const stale = found.issues.filter((issue) => !isGiven(issue)).map(asWarning);
    const after = await saveUnlessChanged(before, { snapshot, warnings: [...found.warnings, ...stale] });
    if (after) return after;
    before = await requireOwn(context, caller, agentId);
  }
  throw fault("conflict", "The agent is being changed by others at this moment");

  /** Nothing else is checked while the row is locked: that takes time and other connections. */
  function saveUnlessChanged(
    from: AgentWithRevision,
    content: Pick<AgentWithRevision["revision"], "snapshot" | "warnings">,
  ): Promise<AgentWithRevision | undefined> {
    return context.database.transaction(async (tx) => {
      const calls = boundAgentIds(draft.fields.tools ?? []);
      const circle = await findCircleBeforeWriting(tx, caller.userId, agentId, calls);
      if (circle) throwIfAny([await circleIssue(tx, caller.userId, agentId, circle)]);
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
      return { agent: { ...locked, visibility, latestRevisionId: revision.id, updatedAt: now }, revision };
    });
  }
}
