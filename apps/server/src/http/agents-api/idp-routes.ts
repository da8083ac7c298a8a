import { type IdpActionRecord, type IdpConnectorRecord, putIdpConnectorBody, runIdpActionBody } from "@gantry/wire";
import type { Connector, IdpConnector, ListedAction } from "../../features/connectors/idp/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { clientPresence } from "../model-api/client-presence.ts";
import type { AgentsRoutes } from "./agents-api.ts";

const base = "/connectors/idp";

/** The identity connector: its configuration, the list of its actions, and running one by hand. */
export const idpRoutes =
  (idp: IdpConnector): AgentsRoutes =>
  (app, callerOf) => {
    app.put(base, async (request) => {
      const { userId } = await callerOf(request);
      return connectorRecord(await idp.configure(userId, parseOrThrow(putIdpConnectorBody, request.body, ["body"])));
    });

    app.get(base, async (request) => connectorRecord(await idp.read((await callerOf(request)).userId)));

    app.delete(base, async (request, reply) => {
      await idp.remove((await callerOf(request)).userId);
      return reply.code(204).send();
    });

    app.get(`${base}/actions`, async (request) => {
      const listed = await idp.listActions((await callerOf(request)).userId);
      return { actions: listed.map(actionRecord) };
    });

    app.post<{ Params: { name: string } }>(`${base}/actions/:name`, async (request, reply) => {
      const { userId } = await callerOf(request);
      const body = parseOrThrow(runIdpActionBody, request.body ?? {}, ["body"]);
      const confirm = body.confirm === true;
      // A write that was confirmed is done whether or not its caller stays to hear of it; anything else stops with them.
      const signal = confirm ? undefined : clientPresence(reply);
      try {
        const call = { arguments: body.arguments ?? {}, confirm, ...(signal && { signal }) };
        const { forCaller, oneTimeSecret } = await idp.callAction(userId, request.params.name, call);
        if (oneTimeSecret) reply.header("cache-control", "no-store");
        return forCaller;
      } catch (error) {
        if (signal?.aborted) return reply.code(499).send();
        throw error;
      }
    });
  };

function connectorRecord({ domain, tokenLast4, scopes, expiresAt, warnings }: Connector): IdpConnectorRecord {
  return { domain, token_last4: tokenLast4, scopes, expires_at: expiresAt?.toISOString() ?? null, warnings };
}

function actionRecord({
  action,
  description,
  parameters,
  upstream,
  deprecated,
  allowedByToken,
}: ListedAction): IdpActionRecord {
  return {
    name: action.name,
    group: action.group,
    method: action.method,
    path: action.path,
    upstream: { method: upstream.method, path: upstream.path },
    kind: action.kind,
    description,
    parameters,
    scopes: [...action.scopes],
    destructive: action.destructive === true,
    deprecated,
    paginated: action.paginated,
    allowed_by_token: allowedByToken,
  };
}
