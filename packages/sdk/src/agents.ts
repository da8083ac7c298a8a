import type {
  AgentCard,
  AgentCreatedRecord,
  AgentRecord,
  AgentVisibility,
  ChangeAgentBody,
  CreateAgentBody,
} from "@gantry/wire";
import { segment, withQuery } from "./address.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** What an agent needs, and what has a default. */
export type NewAgent = Pick<CreateAgentBody, "name" | "goal" | "tools"> & Partial<CreateAgentBody>;

/** Where in a list of the agents platform. */
export interface ListRange {
  /** 1 to 100; 20 by default. */
  limit?: number;
  offset?: number;
}

export interface AgentList {
  agents: AgentRecord[];
  total: number;
  limit: number;
  offset: number;
}

/** The agents platform is a preview. */
export interface Agents {
  create(agent: NewAgent, options?: CallOptions): Promise<AgentCreatedRecord>;
  /** The caller's own as a whole; of another's public one, its card. */
  get(id: string, options?: CallOptions): Promise<AgentRecord | AgentCard>;
  /** Only the fields to change; they act when the draft is published, `visibility` at once. */
  update(id: string, change: ChangeAgentBody, options?: CallOptions): Promise<AgentRecord>;
  /** The caller's own, newest first. */
  list(options?: ListRange & { visibility?: AgentVisibility } & CallOptions): Promise<AgentList>;
  /** The latest revision, or the one that is named. */
  publish(id: string, options?: { revision_id?: string } & CallOptions): Promise<AgentRecord>;
  /** Its runs stay readable. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

export function agents({ json, send }: Transport): Agents {
  const at = (id: string) => `/v1/agents/${segment(id)}`;
  return {
    create: async (agent, { signal } = {}) => json({ method: "POST", path: "/v1/agents", json: agent, signal }),
    get: async (id, { signal } = {}) => json({ method: "GET", path: at(id), signal }),
    update: async (id, change, { signal } = {}) => json({ method: "PATCH", path: at(id), json: change, signal }),
    list: async ({ signal, ...query } = {}) => json({ method: "GET", path: withQuery("/v1/agents", query), signal }),
    publish: async (id, { signal, ...wanted } = {}) =>
      json({ method: "POST", path: `${at(id)}/publish`, json: wanted, signal }),
    async delete(id, { signal } = {}) {
      await send({ method: "DELETE", path: at(id), signal });
    },
  };
}
