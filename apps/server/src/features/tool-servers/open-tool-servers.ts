import type { AgentAuthorization, ChangeToolServerBody, CreateToolServerBody } from "@gantry/wire";
import type { ToolList } from "../../engines/tools/tools.ts";
import { callTool, type ServerToolCall, type ServerToolOutcome } from "./call-tool.ts";
import type { ToolServersContext } from "./context.ts";
import { type DescribedTools, type DescribeOptions, describeTools, type ServerBinding } from "./describe-tools.ts";
import { listTools } from "./list-tools.ts";
import { authorizeServer, forgetAuthorization, linkOfRecord, listAuthorizations } from "./oauth/authorizations.ts";
import {
  type AuthorizationAnswer,
  type AuthorizationOutcome,
  findAuthorization,
  finishAuthorization,
  type PendingAuthorization,
} from "./oauth/finish-authorization.ts";
import type { AuthorizationLink } from "./oauth/links.ts";
import { changeServer, registerServer, removeServer } from "./servers.ts";
import { selectToolServers } from "./store.ts";
import { KnownTools, type ToolServer } from "./tool-server.ts";
import { findServerOrThrow, findServers } from "./use-server.ts";

export interface NamedServer {
  name: string;
  /** Tool names from the last list; undefined if the server was not listed yet. */
  knownTools: ReadonlySet<string> | undefined;
}

/** MCP servers that users register for their agents. */
export interface ToolServers {
  register(ownerId: string, given: CreateToolServerBody): Promise<ToolServer>;
  read(ownerId: string, id: string): Promise<ToolServer>;
  list(
    ownerId: string,
    range: { limit: number; offset: number },
  ): Promise<{ servers: readonly ToolServer[]; total: number }>;
  change(ownerId: string, id: string, change: ChangeToolServerBody): Promise<ToolServer>;
  remove(ownerId: string, id: string, options: { force: boolean }): Promise<void>;
  listTools(ownerId: string, id: string, signal?: AbortSignal): Promise<ToolList>;
  /** A link with which the owner authorizes a server with OAuth. */
  authorize(ownerId: string, id: string, baseUrl: string): Promise<AuthorizationLink>;
  /** The link for a record with the status `authorization_required`. `isOffline`: without asking the server. */
  withLink(
    server: ToolServer,
    options: { baseUrl: string; isOffline: boolean },
  ): Promise<{ server: ToolServer; url: string | undefined }>;
  /** The server and the user of the link. Undefined if it does not work. */
  findAuthorization(answer: AuthorizationAnswer): Promise<PendingAuthorization | undefined>;
  /** Takes what the browser brings back from the authorization server. */
  finishAuthorization(answer: AuthorizationAnswer): Promise<AuthorizationOutcome>;
  /** Deletes the user's tokens for a server, which may belong to another user. */
  forgetAuthorization(userId: string, id: string): Promise<void>;
  /** The servers with OAuth among those of an agent, and whether the user has authorized them. */
  authorizations(
    userId: string,
    servers: readonly { ownerId: string; id: string }[],
    baseUrl: string | undefined,
  ): Promise<AgentAuthorization[]>;
  /** The owner's servers among the ids, by id. */
  serversAmong(ownerId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NamedServer>>;
  /** For runs: the tools of an agent's servers under the names that the model uses. */
  describeTools(ownerId: string, bindings: readonly ServerBinding[], options: DescribeOptions): Promise<DescribedTools>;
  /** For runs. The caller has obtained the confirmation, if one is needed. */
  callTool(call: ServerToolCall): Promise<ServerToolOutcome>;
}

export type ToolServersDeps = Omit<ToolServersContext, "known">;

export function openToolServers(deps: ToolServersDeps): ToolServers {
  const context: ToolServersContext = { ...deps, known: new KnownTools() };
  return {
    register: (ownerId, given) => registerServer(context, ownerId, given),
    read: (ownerId, id) => findServerOrThrow(context, ownerId, id),
    list: (ownerId, range) => selectToolServers(context.database.sql, ownerId, range),
    change: (ownerId, id, change) => changeServer(context, ownerId, id, change),
    remove: (ownerId, id, options) => removeServer(context, ownerId, id, options),
    listTools: (ownerId, id, signal) => listTools(context, ownerId, id, signal),
    authorize: (ownerId, id, baseUrl) => authorizeServer(context, ownerId, id, baseUrl),
    withLink: (server, options) => linkOfRecord(context, server, options),
    findAuthorization: (answer) => findAuthorization(context, answer),
    finishAuthorization: (answer) => finishAuthorization(context, answer),
    forgetAuthorization: (userId, id) => forgetAuthorization(context, userId, id),
    authorizations: (userId, servers, baseUrl) => listAuthorizations(context, userId, servers, baseUrl),
    async serversAmong(ownerId, ids) {
      const found = await findServers(context, ownerId, ids);
      return new Map(found.map((server) => [server.id, { name: server.name, knownTools: context.known.of(server) }]));
    },
    describeTools: (ownerId, bindings, options) => describeTools(context, ownerId, bindings, options),
    callTool: (call) => callTool(context, call),
  };
}
