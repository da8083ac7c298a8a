import type { IdpActionRecord, IdpConnectorRecord } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import type { Connector, IdpConnector, ListedAction } from "../../features/connectors/idp/index.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";

const operations = agentsOperations;

/** The identity connector: its configuration, the list of its actions, and running one by hand. */
export function idpRoutes(idp: IdpConnector): AgentsRoutes {
  return (app) => {
    route(app, operations.putIdpConnector, async ({ caller, body }) =>
      connectorRecord(await idp.configure(caller.userId, body)),
    );

    route(app, operations.readIdpConnector, async ({ caller }) => connectorRecord(await idp.read(caller.userId)));

    route(app, operations.removeIdpConnector, async ({ caller }) => {
      await idp.remove(caller.userId);
    });

    route(app, operations.listIdpActions, async ({ caller }) => {
      const listed = await idp.listActions(caller.userId);
      return { actions: listed.map(actionRecord) };
    });

    route(app, operations.runIdpAction, async ({ caller, params, body, reply }) => {
      const confirm = body.confirm === true;
      // A confirmed write completes even if its caller leaves.
      const signal = confirm ? undefined : clientPresence(reply);
      try {
        const call = { arguments: body.arguments ?? {}, confirm, ...(signal && { signal }) };
        const { forCaller, oneTimeSecret } = await idp.callAction(caller.userId, params.name, call);
        if (oneTimeSecret) reply.header("cache-control", "no-store");
        return forCaller;
      } catch (error) {
        if (signal?.aborted) return reply.code(499).send();
        throw error;
      }
    });
  };
}

export function connectorRecord({ domain, tokenLast4, scopes, expiresAt, warnings }: Connector): IdpConnectorRecord {
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
