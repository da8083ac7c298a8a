import type { ProviderType } from "@gantry/wire";
import { type Net, NetError, type NetHandler } from "../engines/net/net.ts";
import type { FoundServer } from "../features/providers/index.ts";
import { labelOf } from "./find-models.ts";

const startHints: Partial<Record<ProviderType, string>> = {
  ollama: "The operator can start it with `ollama serve`.",
  lmstudio: "The operator can start it with `lms server start`.",
  llamacpp: "The operator can start it with `llama-server`.",
};

/** Failures of servers on this machine say which one is not running. Other calls pass unchanged. */
export function withLocalHints(net: Net, local: readonly FoundServer[]): Net {
  if (local.length === 0) return net;
  const types = new Map(local.map(({ type, url }) => [new URL(url).origin, type]));
  const typeAt = (url: string | URL) => {
    const origin = URL.parse(String(url))?.origin;
    return origin === undefined ? undefined : types.get(origin);
  };
  return {
    ...net,
    async request(call) {
      const type = typeAt(call.url);
      if (type === undefined) return net.request(call);
      return net.request(call).catch((error: unknown) => {
        throw explained(type, error);
      });
    },
    dispatch(call, handler) {
      const type = typeAt(call.url);
      net.dispatch(call, type === undefined ? handler : explaining(type, handler));
    },
  };
}

function explaining(type: ProviderType, handler: NetHandler): NetHandler {
  return {
    onResponseStart: (control, status, headers) => handler.onResponseStart(control, status, headers),
    onResponseData: (control, chunk) => handler.onResponseData(control, chunk),
    onResponseEnd: () => handler.onResponseEnd(),
    onResponseError: (error) => handler.onResponseError(explained(type, error)),
  };
}

function explained<E>(type: ProviderType, error: E): E | NetError {
  if (!(error instanceof NetError) || error.reason !== "unreachable") return error;
  const message = `${labelOf(type)} on the server's machine is not running. ${startHints[type] ?? ""}`.trim();
  return new NetError("unreachable", message, { cause: error });
}
