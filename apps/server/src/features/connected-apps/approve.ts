import { fault } from "../../kernel/errors.ts";
import type { Caller, KeyRequest } from "../accounts/index.ts";
import { newTokenPair } from "../accounts/index.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";
import type { ConnectedAppsContext } from "./context.ts";
import { withAnswer } from "./redirect-uri.rules.ts";
import { insertConnection } from "./store.ts";

const codeMs = 60_000;
/** As many as a key can list. */
const mostNames = 100;

/** Creates a key for the app, and returns the address that gives the app its code. */
export async function approve(
  { accounts, clock }: ConnectedAppsContext,
  caller: Caller,
  { client, redirectUri, state, codeChallenge }: AuthorizationRequest,
  wanted: KeyRequest,
  base: string,
): Promise<string> {
  if (wanted.models === null) {
    const msg = "Choose at least one model or agent: an app gets no access to others.";
    throw fault("value_error", msg, { loc: ["body", "models"] });
  }
  const code = newTokenPair("gc");
  const codeExpiresAt = new Date(clock.now().getTime() + codeMs);
  await accounts.createKey(caller, wanted, (tx, keyId) =>
    insertConnection(tx, {
      keyId,
      clientId: client.id,
      public: code.public,
      redirectUri,
      codeHash: code.hash,
      codeChallenge,
      codeExpiresAt,
    }),
  );
  return withAnswer(redirectUri, { code: code.key, state, iss: base });
}

export function deny({ redirectUri, state }: AuthorizationRequest, base: string): string {
  return withAnswer(redirectUri, {
    error: "access_denied",
    error_description: "The user did not allow the connection",
    state,
    iss: base,
  });
}

/** The models and published agents that /mcp offers the user, as a key lists them. */
export async function suggestNames(
  { models, agents }: ConnectedAppsContext,
  caller: Caller,
): Promise<{ names: string[]; isCut: boolean }> {
  const range = { limit: mostNames, offset: 0 };
  const [ownAgents, ownModels] = await Promise.all([
    agents.listAgents(caller, { ...range, visibility: undefined }),
    models.listModels(caller, { ...range, withoutOthers: true }),
  ]);
  const names = [
    ...ownAgents.entries
      .filter(({ agent }) => agent.publishedRevisionId !== null)
      .map(({ agent }) => `agents/${agent.owner}/${agent.slug}`),
    ...ownModels.entries
      .filter(({ manifest }) => manifest.capacity > 0 && manifest.kind !== "embedding")
      .map(({ owner, name }) => `${owner}/${name}`),
  ];
  const isCut = names.length > mostNames || ownAgents.total > mostNames || ownModels.total > mostNames;
  return { names: names.slice(0, mostNames), isCut };
}
