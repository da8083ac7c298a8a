import type { FastifyInstance, FastifyReply } from "fastify";
import type { AuthorizationAnswer, AuthorizationOutcome, ToolServers } from "../../features/tool-servers/index.ts";
import { sendPlainPage } from "../foundation/plain-page.ts";

interface OAuthCallbackDeps {
  toolServers: Pick<ToolServers, "findAuthorization" | "finishAuthorization">;
}

/**
 * The browser returns here from an authorization server. The state is the permission. A user may have sent the link to
 * another person, so the page names the user, and the account is connected only when the person presses the button.
 */
export async function oauthCallback(app: FastifyInstance, { toolServers }: OAuthCallbackDeps): Promise<void> {
  app.addContentTypeParser<string>(formType, { parseAs: "string", bodyLimit: longestForm }, (_request, text, done) =>
    done(null, new URLSearchParams(text)),
  );

  const finish = async (reply: FastifyReply, answer: AuthorizationAnswer) => {
    const outcome = await toolServers.finishAuthorization(answer);
    const [title, text] = textsOf(outcome);
    return sendPlainPage(reply, outcome.isAuthorized ? 200 : 400, title, text);
  };

  app.get(path, { exposeHeadRoute: false }, async (request, reply) => {
    const answer = answerOf((name) => (request.query as Record<string, unknown>)[name]);
    const isGranted = answer.code !== undefined && answer.error === undefined;
    const pending = isGranted ? await toolServers.findAuthorization(answer) : undefined;
    if (!pending) return finish(reply, answer);
    const { host, serverName, username } = pending;
    const title = `Connect ${host} for the Gantry user ${username}?`;
    const text = `${username} will use the tool server ${serverName} with the account that you signed in with. Connect it only if you are ${username}. Otherwise close this window.`;
    const { state, code, iss } = answer;
    return sendPlainPage(reply, 200, title, text, { button: "Connect", fields: { state, code, iss } });
  });

  app.post(path, (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    return finish(
      reply,
      answerOf((name) => (form.getAll(name).length === 1 ? form.get(name) : undefined)),
    );
  });
}

const path = "/hooks/oauth/callback";
const formType = "application/x-www-form-urlencoded";
const longestForm = 65_536;

function answerOf(read: (name: string) => unknown): AuthorizationAnswer {
  const field = (name: string) => one(read(name));
  return {
    state: field("state"),
    code: field("code"),
    iss: field("iss"),
    error: field("error"),
    errorDescription: field("error_description"),
  };
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
