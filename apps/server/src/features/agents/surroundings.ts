import type { AgentSnapshot, AgentVisibility, AgentWarning } from "@gantry/wire";
import type { SchemaFault } from "../../engines/schemas/schemas.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Issue } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import { type Binding, type CallableAgent, findBound, findCallable } from "./binding-store.ts";
import type { AgentsContext, NamedToolServer } from "./context.ts";

/** The answer is about all that was asked for at the same time, so it may hold more than one asked for. */
type Lookup<Answer> = (ids: readonly string[]) => Promise<Answer>;

/** What the contents of an agent name and its owner has or may call: each by its id, as far as it is there. */
export interface Surroundings {
  models: Lookup<ReadonlyMap<string, Model>>;
  agents: Lookup<ReadonlyMap<string, CallableAgent>>;
  /** Which agents these agents call, drafts of the owner included. */
  bindings(agentIds: readonly string[]): Promise<readonly Binding[]>;
  drives: Lookup<ReadonlySet<string>>;
  /** By name. */
  secrets: Lookup<ReadonlySet<string>>;
  toolServers: Lookup<ReadonlyMap<string, NamedToolServer>>;
  /** Why the identity connector cannot be used. */
  connectorTrouble(): Promise<string | undefined>;
}

/**
 * For any number of agents of one user that are looked at together: what they ask for at the same time is one question
 * to the database, so that a list of agents costs as many as a single one.
 */
export function surroundingsOf(context: AgentsContext, caller: Caller): Surroundings {
  const { sql } = context.database;
  const { userId } = caller;
  const bindings = together<readonly Binding[]>([], (ids) => findBound(sql, userId, ids));
  let trouble: Promise<string | undefined> | undefined;
  return {
    models: byId((ids) => context.models.callableAmong(caller, ids)),
    agents: byId(async (ids) => new Map((await findCallable(sql, userId, ids)).map((agent) => [agent.id, agent]))),
    async bindings(agentIds) {
      const asked = new Set(agentIds);
      return (await bindings(agentIds)).filter(({ agentId }) => asked.has(agentId));
    },
    drives: together<ReadonlySet<string>>(new Set(), (ids) => context.drivesAmong(userId, ids)),
    secrets: together<ReadonlySet<string>>(new Set(), (names) => context.secretsAmong(userId, names)),
    toolServers: byId((ids) => context.toolServersAmong(userId, ids)),
    connectorTrouble() {
      trouble ??= context.connectorTrouble(userId);
      return trouble;
    },
  };
}

const mostAtOnce = 1000;

function byId<Found>(ask: Lookup<ReadonlyMap<string, Found>>): Lookup<ReadonlyMap<string, Found>> {
  return together<ReadonlyMap<string, Found>>(new Map(), ask);
}

/** Whoever asks about nothing gets `none`, and nobody is troubled for it. */
function together<Answer>(none: Answer, ask: Lookup<Answer>): Lookup<Answer> {
  const { add } = createBatcher<readonly string[], Answer>({
    maxItems: mostAtOnce,
    blameItem: () => false,
    async run(questions) {
      const answer = await ask([...new Set(questions.flat())]);
      return questions.map(() => answer);
    },
  });
  return async (ids) => (ids.length === 0 ? none : add(ids));
}

export interface SnapshotFindings {
  /** What keeps the agent from being saved. `loc[1]` is the field. */
  issues: Issue[];
  warnings: AgentWarning[];
}

/** What is being saved: the fields that are well-formed, of a new agent or of one that stands. */
export interface CheckedDraft {
  agentId: string | undefined;
  visibility: AgentVisibility;
  fields: Partial<AgentSnapshot>;
}

export function nothing(): SnapshotFindings {
  return { issues: [], warnings: [] };
}

export function schemaIssue({ path, message }: SchemaFault, root: readonly (string | number)[]): Issue {
  return { type: "value_error", loc: [...root, ...path], msg: message };
}
