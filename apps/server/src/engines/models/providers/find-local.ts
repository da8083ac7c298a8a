import type { ProviderType, UpstreamModel } from "@gantry/wire";
import { isRecord } from "../../../kernel/is-record.ts";
import type { Net } from "../../net/net.ts";
import { discoverModels } from "./discover-models.ts";
import { ProviderFailure } from "./provider-failure.ts";
import { createUpstreamCalls, type UpstreamCalls } from "./upstream-calls.ts";

export type LocalType = Extract<ProviderType, "ollama" | "lmstudio" | "llamacpp">;

export interface LocalPort {
  type: LocalType;
  port: number;
}

export interface LocalServer {
  type: LocalType;
  url: string;
  models: UpstreamModel[];
}

/** Default ports of the servers. */
export const usualPorts: readonly LocalPort[] = [
  { type: "ollama", port: 11_434 },
  { type: "lmstudio", port: 1234 },
  { type: "llamacpp", port: 8080 },
];

const usualTimeoutMs = 1000;

/**
 * The model servers on this machine. A server counts only if it answers as its kind does, because any program may listen on
 * such a port. The caller leaves out its own port, and passes a net that may call loopback.
 */
export async function findLocal(
  net: Net,
  options: { signal: AbortSignal; ports?: readonly LocalPort[]; timeoutMs?: number },
): Promise<LocalServer[]> {
  const { signal, ports = usualPorts, timeoutMs = usualTimeoutMs } = options;
  // One half to recognise a server, the other to list its models.
  const half = timeoutMs / 2;
  const found = await Promise.all(
    ports.map(async ({ type, port }): Promise<LocalServer[]> => {
      const url = `http://127.0.0.1:${port}`;
      const connection = { type, url, headers: {}, query: {} };
      try {
        const calls = createUpstreamCalls(net, connection, { signal, timeoutMs: half });
        if (!(await isOfType[type](calls))) return [];
        return [{ type, url, models: await discoverModels(net, connection, { signal, timeoutMs: half }) }];
      } catch (error) {
        if (error instanceof ProviderFailure) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}

/** Answers that only such a server gives. */
const isOfType: Record<LocalType, (calls: UpstreamCalls) => Promise<boolean>> = {
  async ollama(calls) {
    const { json } = await calls.call(`${calls.root}/api/version`);
    return isRecord(json) && typeof json.version === "string";
  },
  async lmstudio(calls) {
    const { json } = await calls.call(`${calls.root}/api/v0/models`);
    const entries = isRecord(json) && Array.isArray(json.data) ? json.data : undefined;
    return entries?.every((entry) => isRecord(entry) && "type" in entry && "state" in entry) ?? false;
  },
  async llamacpp(calls) {
    const { headers } = await calls.call(`${calls.root}/v1/models`);
    return headers.server === "llama.cpp";
  },
};
