import type {
  AgentAuthorization,
  AgentCard,
  AgentCreatedRecord,
  AgentRecord,
  AgentVisibility,
  ChangeAgentBody,
  CreateAgentBody,
  ToolRecord,
} from "@gantry/wire";
import { at } from "./address.ts";
import { eachListed, type ListRange } from "./pages.ts";
import { type Revisions, revisions } from "./revisions.ts";
import type { CallOptions, Transport } from "./transport.ts";
import type { WithDefaults } from "./with-defaults.ts";

/** Required fields, and fields with a default. */
export type NewAgent = WithDefaults<CreateAgentBody, "name" | "goal" | "tools">;

export interface AgentList {
  agents: (AgentRecord | AgentCard)[];
  total: number;
  limit: number;
  offset: number;
}

/** The agents platform is a preview. */
export interface Agents {
  create(agent: NewAgent, options?: CallOptions): Promise<AgentCreatedRecord>;
  /** Your own agent, or the card of another user's public agent. A key limited to models gets only cards. */
  get(id: string, options?: CallOptions): Promise<AgentRecord | AgentCard>;
  /** Send only the fields to change. They take effect when you publish the draft, `visibility` at once. */
  update(id: string, change: ChangeAgentBody, options?: CallOptions): Promise<AgentRecord>;
  /** One page of your agents, newest first. A key limited to models gets the cards of agents that it may run. */
  list(options?: ListRange & { visibility?: AgentVisibility | undefined } & CallOptions): Promise<AgentList>;
  /** Iterates over all your agents, newest first, page by page. */
  each(options?: { visibility?: AgentVisibility | undefined } & CallOptions): AsyncGenerator<AgentRecord | AgentCard>;
  /** Publishes the latest revision, or the given one. */
  publish(id: string, options?: { revision_id?: string | undefined } & CallOptions): Promise<AgentRecord>;
  /** Runs of a deleted agent stay readable. */
  delete(id: string, options?: CallOptions): Promise<void>;
  revisions: Revisions;
  /** Tool servers that a run of the agent uses with your own authorization, with links to authorize them. */
  authorizations(id: string, options?: CallOptions): Promise<AgentAuthorization[]>;
  /** Tools that an agent can use by id; for tools of tool servers see `toolServers.tools`. */
  tools(options?: CallOptions): Promise<ToolRecord[]>;
}

export function agents(transport: Transport): Agents {
  const { json, send } = transport;
  const all: Agents = {
    create: async (agent, { signal } = {}) => json({ ...at("POST /v1/agents"), json: agent, signal }),
    get: async (agent_id, { signal } = {}) => json({ ...at("GET /v1/agents/{agent_id}", { agent_id }), signal }),
    update: async (agent_id, change, { signal } = {}) =>
      json({ ...at("PATCH /v1/agents/{agent_id}", { agent_id }), json: change, signal }),
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /v1/agents"), query, signal }),
    each: (options) =>
      eachListed(
        async (range) => {
          const { agents: entries, total } = await all.list({ ...options, ...range });
          return { entries, total };
        },
        ({ id }) => id,
      ),
    publish: async (agent_id, { signal, ...wanted } = {}) =>
      json({ ...at("POST /v1/agents/{agent_id}/publish", { agent_id }), json: wanted, signal }),
    async delete(agent_id, { signal } = {}) {
      await send({ ...at("DELETE /v1/agents/{agent_id}", { agent_id }), signal });
    },
    revisions: revisions(transport),
    async authorizations(agent_id, { signal } = {}) {
      const to = at("GET /v1/agents/{agent_id}/authorizations", { agent_id });
      return (await json<{ authorizations: AgentAuthorization[] }>({ ...to, signal })).authorizations;
    },
    async tools({ signal } = {}) {
      return (await json<{ tools: ToolRecord[] }>({ ...at("GET /v1/tools"), signal })).tools;
    },
  };
  return all;
}
