import type {
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

/** What an agent needs, and what has a default. */
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
  /** The caller's own as a whole; the card of another user's public one. A key limited to models gets cards only. */
  get(id: string, options?: CallOptions): Promise<AgentRecord | AgentCard>;
  /** Only the fields to change; they act when the draft is published, `visibility` at once. */
  update(id: string, change: ChangeAgentBody, options?: CallOptions): Promise<AgentRecord>;
  /** The caller's own, newest first; one page. A key limited to models gets the cards of those that it may run. */
  list(options?: ListRange & { visibility?: AgentVisibility | undefined } & CallOptions): Promise<AgentList>;
  /** All of the caller's own, newest first, read page by page as the loop goes on. */
  each(options?: { visibility?: AgentVisibility | undefined } & CallOptions): AsyncGenerator<AgentRecord | AgentCard>;
  /** The latest revision, or the one that is named. */
  publish(id: string, options?: { revision_id?: string | undefined } & CallOptions): Promise<AgentRecord>;
  /** Its runs stay readable. */
  delete(id: string, options?: CallOptions): Promise<void>;
  revisions: Revisions;
  /** Every tool that an agent can be given by its id; those of tool servers are in `toolServers.tools`. */
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
    async tools({ signal } = {}) {
      return (await json<{ tools: ToolRecord[] }>({ ...at("GET /v1/tools"), signal })).tools;
    },
  };
  return all;
}
