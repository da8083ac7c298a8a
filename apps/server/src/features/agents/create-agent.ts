import { type AgentSnapshot, newId } from "@gantry/wire";
import { fault, throwIfAny } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { AgentWithRevision, Revision } from "./agent.ts";
import { checkSnapshot } from "./check-snapshot.ts";
import type { AgentsContext } from "./context.ts";
import { refuseChangeByPlainMember, refusePlainMember } from "./plain-members.ts";
import { refusePrice } from "./prices.ts";
import { readDraft } from "./read-draft.ts";
import { recordAgent } from "./record-agent.ts";
import { findFreeSlug, insertAgent, insertRevision } from "./store.ts";

/** Concurrent requests with the same name compete for slugs. */
const maxTries = 20;

/** Creates an unpublished agent with its first revision. */
export async function createAgent(context: AgentsContext, caller: Caller, body: unknown): Promise<AgentWithRevision> {
  const draft = readDraft(body, "create");
  refusePrice(caller, draft.fields.pricing);
  const { visibility = "private" } = draft;
  refusePlainMember(caller, { visibility });
  await refuseChangeByPlainMember(context.database.sql, caller, undefined, { after: draft.fields });
  const { issues, warnings } = await checkSnapshot(context, caller, {
    agentId: undefined,
    visibility,
    fields: draft.fields,
  });
  throwIfAny([...draft.issues, ...draft.placed(issues)]);
  // Without issues the fields are complete, with defaults.
  const snapshot = draft.fields as AgentSnapshot;
  const now = context.clock.now();
  const id = newId("agent", now.getTime());
  const revision: Revision = {
    id: newId("revision", now.getTime()),
    agentId: id,
    number: 1,
    status: "draft",
    snapshot,
    warnings,
    createdAt: now,
  };
  for (let tries = 0; tries < maxTries; tries++) {
    const slug = await findFreeSlug(context.database.sql, caller.userId, slugOf(snapshot.name));
    if (slug === undefined) break;
    const agent = {
      id,
      ownerId: caller.userId,
      owner: caller.username,
      slug,
      visibility,
      latestRevisionId: revision.id,
      publishedRevisionId: null,
      publishedAt: null,
      takenDown: null,
      createdAt: now,
      updatedAt: now,
    } as const;
    const isCreated = await context.database.transaction(async (tx) => {
      if (!(await insertAgent(tx, agent))) return false;
      await insertRevision(tx, revision);
      await recordAgent(tx, "agent.create", { after: { agent, revision } });
      return true;
    });
    if (isCreated) return { agent, revision };
  }
  throw fault("conflict", `Too many of your agents have the name ${snapshot.name}. Choose another name.`);
}

const longest = 48;

/** `Weather Reporter!` becomes `weather-reporter`. */
export function slugOf(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, longest)
    .replace(/^-+|-+$/g, "");
  // Names in other scripts have no such letters.
  return plain === "" ? "agent" : plain;
}
