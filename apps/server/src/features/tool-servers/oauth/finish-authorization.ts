import { randomUUID } from "node:crypto";
import { OAuthError, type OAuthTokens } from "../../../engines/tools/oauth/oauth.ts";
import { ToolServerError } from "../../../engines/tools/tools.ts";
import { actorIsUser } from "../../audit/index.ts";
import type { ToolServersContext } from "../context.ts";
import { toolsOf } from "../list-tools.ts";
import { recordAccount } from "../record-server.ts";
import { selectServerById } from "../store.ts";
import type { SealedToolServer } from "../tool-server.ts";
import { refreshInSeconds } from "./access-tokens.ts";
import { storeGrant } from "./grant-store.ts";
import { hashOfState } from "./links.ts";
import { deleteClients, type StoredFlow, selectPending, takeFlow } from "./oauth-store.ts";
import { revokeLater } from "./revoke.ts";
import { type Flow, type Grant, sealedFlow, sealedGrant } from "./sealed.ts";

/** What the authorization server sends through the browser. */
export interface AuthorizationAnswer {
  state?: string | undefined;
  code?: string | undefined;
  iss?: string | undefined;
  error?: string | undefined;
  errorDescription?: string | undefined;
}

export type AuthorizationOutcome =
  | { isAuthorized: true; serverName: string; host: string; trouble: string | undefined }
  | { isAuthorized: false; problem: string };

export interface PendingAuthorization {
  serverName: string;
  host: string;
  username: string;
}

/** For the person at the browser, who may not be the one who created the link. */
export async function findAuthorization(
  { database }: ToolServersContext,
  { state }: AuthorizationAnswer,
): Promise<PendingAuthorization | undefined> {
  const found = state === undefined ? undefined : await selectPending(database.sql, hashOfState(state));
  return found && { serverName: found.name, host: new URL(found.url).host, username: found.username };
}

const invalidLink =
  "The link was already used, has expired or is not valid. Request a new one in Gantry, then try again.";
const longestText = 300;

/** The end of an authorization. The state is used up, whatever happens next. */
export async function finishAuthorization(
  context: ToolServersContext,
  answer: AuthorizationAnswer,
): Promise<AuthorizationOutcome> {
  const { database, vault } = context;
  const stored = answer.state ? await takeFlow(database.sql, hashOfState(answer.state)) : undefined;
  const flow = stored && sealedFlow.open(vault, stored.sealed, stored.userId, stored.serverId);
  const server = stored && (await selectServerById(database.sql, stored.serverId));
  if (!flow || !server) return failed(invalidLink);
  const problem = problemIn(answer, flow);
  if (problem !== undefined) return failed(problem);
  try {
    return await redeem(context, server, stored, flow, answer.code ?? "");
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    // The next link registers a new client.
    if (error.isClientUnknown) await deleteClients(database.sql, server.id);
    context.log.warn({ server_id: server.id, reason: error.reason }, "authorization of a tool server failed");
    return failed(`${error.message}.`);
  }
}

const failed = (problem: string): AuthorizationOutcome => ({ isAuthorized: false, problem });

/** An answer of another authorization server is not believed, its error neither (RFC 9207). */
function problemIn({ code, iss, error, errorDescription }: AuthorizationAnswer, { server }: Flow): string | undefined {
  if (iss === undefined ? server.sendsIssuer : iss !== server.issuer) {
    return "The answer comes from another authorization server than the one that was asked. Nothing was authorized.";
  }
  if (error === "access_denied") return "Access was not granted.";
  if (error !== undefined) {
    const text = [error, errorDescription].filter((one) => one !== undefined).join(": ");
    return `The authorization server refused: ${text.slice(0, longestText)}`;
  }
  return code === undefined ? "The answer of the authorization server contains no code." : undefined;
}

async function redeem(
  context: ToolServersContext,
  server: SealedToolServer,
  { userId, redirectUri }: StoredFlow,
  { verifier, revision, state: _used, ...registration }: Flow,
  code: string,
): Promise<AuthorizationOutcome> {
  const { database, vault, oauth, log } = context;
  const tokens: OAuthTokens = await oauth.exchange(registration.server, registration.client, {
    code,
    verifier,
    redirectUri,
  });
  const grant: Grant = { ...registration, url: server.url, tokens };
  const stored = {
    grantId: randomUUID(),
    version: randomUUID(),
    sealedTokens: sealedGrant.seal(vault, grant, userId, server.id),
    refreshInSeconds: refreshInSeconds(tokens),
  };
  const isStored = await database.transaction(async (tx) => {
    if (!(await storeGrant(tx, { serverId: server.id, userId, revision }, stored))) return false;
    // The browser came back without its key: the state names the user who asked for the link.
    await actorIsUser(tx, userId);
    await recordAccount(tx, "tool_server.authorize", userId, server);
    return true;
  });
  if (!isStored) {
    revokeLater(context, server.id, [grant]);
    return failed("The tool server was changed meanwhile. Request a new link in Gantry, then try again.");
  }
  log.info({ user_id: userId, server_id: server.id }, "tool server authorized");
  const trouble = await troubleWith(context, server, userId);
  return { isAuthorized: true, serverName: server.name, host: new URL(server.url).host, trouble };
}

const testMs = 10_000;

/** Lists the tools, which also updates the status that the owner sees. */
async function troubleWith(
  context: ToolServersContext,
  server: SealedToolServer,
  userId: string,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(testMs);
  try {
    await toolsOf(context, server, { userId, signal });
    return undefined;
  } catch (error) {
    if (signal.aborted) return "The tool server did not answer in time";
    if (error instanceof ToolServerError) return error.message;
    throw error;
  }
}
