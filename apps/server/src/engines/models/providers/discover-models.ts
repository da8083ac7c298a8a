import type { UpstreamModel } from "@gantry/wire";
import type { Net } from "../../net/net.ts";
import type { ProviderConnection } from "./connection.ts";
import { providerRows } from "./provider-rows.ts";
import { createUpstreamCalls } from "./upstream-calls.ts";

const usualTimeoutMs = 20_000;

/**
 * The models of a provider that Gantry can call, in the provider's order. Rejects with a `ProviderFailure`, whose message
 * says what is wrong, or with the signal's reason.
 */
export async function discoverModels(
  net: Net,
  connection: ProviderConnection,
  { signal, timeoutMs = usualTimeoutMs }: { signal: AbortSignal; timeoutMs?: number },
): Promise<UpstreamModel[]> {
  const calls = createUpstreamCalls(net, connection, { signal, timeoutMs });
  const { list } = providerRows[connection.type];
  if (list === undefined) throw calls.fail("nothing_to_list");
  return list(calls);
}
