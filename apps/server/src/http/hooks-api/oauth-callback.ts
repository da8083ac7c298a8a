import type { FastifyInstance } from "fastify";
import type { AuthorizationOutcome, ToolServers } from "../../features/tool-servers/index.ts";
import { sendPlainPage } from "../foundation/plain-page.ts";

interface OAuthCallbackDeps {
  toolServers: Pick<ToolServers, "finishAuthorization">;
}

/** The browser returns here from an authorization server. The state in the address is the permission. */
export async function oauthCallback(app: FastifyInstance, { toolServers }: OAuthCallbackDeps): Promise<void> {
  // HEAD would use up the state.
  app.get("/hooks/oauth/callback", { exposeHeadRoute: false }, async (request, reply) => {
    const field = (name: string) => one((request.query as Record<string, unknown>)[name]);
    const outcome = await toolServers.finishAuthorization({
      state: field("state"),
      code: field("code"),
      iss: field("iss"),
      error: field("error"),
      errorDescription: field("error_description"),
    });
    const [title, text] = textsOf(outcome);
    return sendPlainPage(reply, outcome.isAuthorized ? 200 : 400, title, text);
  });
}

const longestField = 4096;

/** A field that is given twice is not believed. PostgreSQL and pages take no control characters. */
function one(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "" || value.length > longestField) return undefined;
  return /\p{Cc}/u.test(value) ? undefined : value;
}

function textsOf(outcome: AuthorizationOutcome): [title: string, text: string] {
  if (!outcome.isAuthorized) return ["Not connected", outcome.problem];
  return [
    "Connected. You can close this window.",
    outcome.trouble === undefined
      ? `Gantry can now use the tool server ${outcome.serverName} (${outcome.host}) for you.`
      : `Gantry has your authorization of the tool server ${outcome.serverName} (${outcome.host}), but cannot use it yet. ${outcome.trouble}.`,
  ];
}
