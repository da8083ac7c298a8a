import type {
  AddMemberBody,
  ChangeMemberBody,
  CreateTeamBody,
  MemberRecord,
  TeamRecord,
  TeamUsageRecord,
} from "@gantry/wire";
import { at } from "./address.ts";
import { eachOf, type Page, type PageQuery, type TimeRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Your teams. To act for one, create a client with its name as `team`. */
export interface Teams {
  list(options?: PageQuery & CallOptions): Promise<Page<TeamRecord>>;
  /** Iterates over all entries, page by page. */
  each(options?: CallOptions): AsyncGenerator<TeamRecord>;
  get(team: string, options?: CallOptions): Promise<TeamRecord>;
  create(team: CreateTeamBody, options?: CallOptions): Promise<TeamRecord>;
  /** Only for owners. The balance must be zero, and nothing may run. */
  close(team: string, options?: CallOptions): Promise<void>;
  members(team: string, options?: PageQuery & CallOptions): Promise<Page<MemberRecord>>;
  /** Iterates over all members, page by page. */
  eachMember(team: string, options?: CallOptions): AsyncGenerator<MemberRecord>;
  member(team: string, username: string, options?: CallOptions): Promise<MemberRecord>;
  addMember(team: string, member: AddMemberBody, options?: CallOptions): Promise<MemberRecord>;
  /** Changes the role or the budget. Send only the fields to change; null removes a limit. */
  updateMember(team: string, username: string, change: ChangeMemberBody, options?: CallOptions): Promise<MemberRecord>;
  /** Of yourself: leaves the team. */
  removeMember(team: string, username: string, options?: CallOptions): Promise<void>;
  /** What the members used, the highest spending first. By default this month. */
  usage(team: string, options?: TimeRange & PageQuery & CallOptions): Promise<Page<TeamUsageRecord>>;
  /** Iterates over all entries of `usage`, page by page. */
  eachUsage(team: string, options?: TimeRange & CallOptions): AsyncGenerator<TeamUsageRecord>;
}

export function teams({ json, send }: Transport): Teams {
  const list: Teams["list"] = ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/teams"), query, signal });
  const members: Teams["members"] = (team, { signal, ...query } = {}) =>
    json({ ...at("GET /api/v2/teams/{team}/members", { team }), query, signal });
  const usage: Teams["usage"] = (team, { signal, ...query } = {}) =>
    json({ ...at("GET /api/v2/teams/{team}/usage", { team }), query, signal });
  return {
    list,
    each: (options) =>
      eachOf(
        (range) => list({ ...options, ...range }),
        ({ id }) => id,
      ),
    get: async (team, { signal } = {}) => json({ ...at("GET /api/v2/teams/{team}", { team }), signal }),
    create: async (team, { signal } = {}) => json({ ...at("POST /api/v2/teams"), json: team, signal }),
    async close(team, { signal } = {}) {
      await send({ ...at("DELETE /api/v2/teams/{team}", { team }), signal });
    },
    members,
    eachMember: (team, options) =>
      eachOf(
        (range) => members(team, { ...options, ...range }),
        ({ username }) => username,
      ),
    member: async (team, username, { signal } = {}) =>
      json({ ...at("GET /api/v2/teams/{team}/members/{username}", { team, username }), signal }),
    addMember: async (team, member, { signal } = {}) =>
      json({ ...at("POST /api/v2/teams/{team}/members", { team }), json: member, signal }),
    updateMember: async (team, username, change, { signal } = {}) =>
      json({ ...at("PATCH /api/v2/teams/{team}/members/{username}", { team, username }), json: change, signal }),
    async removeMember(team, username, { signal } = {}) {
      await send({ ...at("DELETE /api/v2/teams/{team}/members/{username}", { team, username }), signal });
    },
    usage,
    eachUsage: (team, options) =>
      eachOf(
        (range) => usage(team, { ...options, ...range }),
        ({ member }) => member ?? "",
      ),
  };
}
