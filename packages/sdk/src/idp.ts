import type { IdpActionRecord, IdpConnectorRecord, IdpOutcomeRecord } from "@gantry/wire";
import { at } from "./address.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Your identity tenant and its actions. The agents platform is a preview. */
export interface IdpConnector {
  /** Tests and stores the tenant's domain and a token for its management API. */
  configure(connector: { domain: string; token: string }, options?: CallOptions): Promise<IdpConnectorRecord>;
  get(options?: CallOptions): Promise<IdpConnectorRecord>;
  delete(options?: CallOptions): Promise<void>;
  actions(options?: CallOptions): Promise<IdpActionRecord[]>;
  /**
   * Runs an action. A write throws `confirmation_required`, with its effect in `details`, unless you set `confirm:
   * true`; then it completes even if you disconnect. A refusal of the tenant is an `upstream_error`.
   */
  run(
    action: string,
    args?: Readonly<Record<string, unknown>>,
    options?: { confirm?: boolean | undefined } & CallOptions,
  ): Promise<IdpOutcomeRecord>;
}

export function idpConnector({ json, send }: Transport): IdpConnector {
  return {
    configure: async (connector, { signal } = {}) => json({ ...at("PUT /v1/connectors/idp"), json: connector, signal }),
    get: async ({ signal } = {}) => json({ ...at("GET /v1/connectors/idp"), signal }),
    async delete({ signal } = {}) {
      await send({ ...at("DELETE /v1/connectors/idp"), signal });
    },
    async actions({ signal } = {}) {
      return (await json<{ actions: IdpActionRecord[] }>({ ...at("GET /v1/connectors/idp/actions"), signal })).actions;
    },
    run: async (name, args = {}, { signal, ...options } = {}) =>
      json({
        ...at("POST /v1/connectors/idp/actions/{name}", { name }),
        json: { arguments: args, ...options },
        signal,
      }),
  };
}
