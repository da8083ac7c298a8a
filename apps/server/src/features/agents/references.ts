import type { AgentSnapshot, AgentVisibility, AgentWarning } from "@gantry/wire";
import type { SchemaFault } from "../../engines/schemas/schemas.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import type { Issue } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import { type Binding, type CallableAgent, findBound, findCallable } from "./binding-store.ts";
import type { AgentsContext, NamedToolServer } from "./context.ts";

/** Lookups are batched, so the answer may contain more than the ids. */
type Lookup<Answer> = (ids: readonly string[]) => Promise<Answer>;

/** Lookups of what an agent refers to, limited to what its owner has or may call. */
export interface References {
  /** By endpoint id or alias, as the agent names them. */
  models: Lookup<ReadonlyMap<string, Model>>;
  agents: Lookup<ReadonlyMap<string, CallableAgent>>;
  /** Sub-agents of the agents, including drafts of the owner. */
  bindings(agentIds: readonly string[]): Promise<readonly Binding[]>;
  drives: Lookup<ReadonlySet<string>>;
  /** By name. */
  secrets: Lookup<ReadonlySet<string>>;
  toolServers: Lookup<ReadonlyMap<string, NamedToolServer>>;
  /** Why the identity connector cannot be used, if it cannot. */
  connectorProblem(): Promise<string | undefined>;
}

/** Concurrent lookups are batched, so a list of agents costs as many queries as one agent. */
export function referencesOf(context: AgentsContext, caller: Caller): References {
  const { sql } = context.database;
  const { userId } = caller;
  const bindings = batched<readonly Binding[]>([], (ids) => findBound(sql, userId, ids));
  let problem: Promise<string | undefined> | undefined;
  return {
    models: byId((names) => callableByName(context, caller, names)),
    agents: byId(async (ids) => new Map((await findCallable(sql, userId, ids)).map((agent) => [agent.id, agent]))),
    async bindings(agentIds) {
      const wanted = new Set(agentIds);
      return (await bindings(agentIds)).filter(({ agentId }) => wanted.has(agentId));
    },
    drives: batched<ReadonlySet<string>>(new Set(), (ids) => context.drivesAmong(userId, ids)),
    secrets: batched<ReadonlySet<string>>(new Set(), (names) => context.secretsAmong(userId, names)),
    toolServers: byId((ids) => context.toolServersAmong(userId, ids)),
    connectorProblem() {
      problem ??= context.connectorProblem(userId);
      return problem;
    },
  };
}

async function callableByName(
  { models }: AgentsContext,
  caller: Caller,
  names: readonly string[],
): Promise<ReadonlyMap<string, Model>> {
  const targets = await Promise.all(names.map((name) => models.targetOf(caller, name)));
  const callable = await models.callableAmong(caller, [...new Set(targets)]);
  return new Map(
    names.flatMap((name, at) => {
      const model = callable.get(targets[at] ?? name);
      return model ? [[name, model] as const] : [];
    }),
  );
}

const mostAtOnce = 1000;

function byId<Found>(find: Lookup<ReadonlyMap<string, Found>>): Lookup<ReadonlyMap<string, Found>> {
  return batched<ReadonlyMap<string, Found>>(new Map(), find);
}

/** An empty lookup returns `none` without a query. */
function batched<Answer>(none: Answer, find: Lookup<Answer>): Lookup<Answer> {
  const { add } = createBatcher<readonly string[], Answer>({
    maxItems: mostAtOnce,
    blameItem: () => false,
    async run(lookups) {
      const answer = await find([...new Set(lookups.flat())]);
      return lookups.map(() => answer);
    },
  });
  return async (ids) => (ids.length === 0 ? none : add(ids));
}

export interface SnapshotFindings {
  /** An agent with issues is not saved. `loc[1]` is the field. */
  issues: Issue[];
  warnings: AgentWarning[];
}

/** The well-formed fields of a new or changed agent. */
export interface CheckedDraft {
  agentId: string | undefined;
  visibility: AgentVisibility;
  fields: Partial<AgentSnapshot>;
}

export function noFindings(): SnapshotFindings {
  return { issues: [], warnings: [] };
}

export function schemaIssue({ path, message }: SchemaFault, root: readonly (string | number)[]): Issue {
  return { type: "value_error", loc: [...root, ...path], msg: message };
}
