import { readFileSync } from "node:fs";
import type { Config } from "./config.ts";
import type { PoolFigures } from "./engines/database/database.ts";
import { createNet } from "./engines/net/create-net.ts";
import type { Net } from "./engines/net/net.ts";
import { createTelemetry, type OpenTelemetry } from "./engines/telemetry/create-telemetry.ts";
import type { Gauges } from "./engines/telemetry/telemetry.ts";
import { traceNet } from "./engines/telemetry/traced-net.ts";
import type { Log } from "./kernel/log.ts";

/** Telemetry, and the way out that hands traces on. Part of composing. */
export function openTelemetry(config: Config, log: Log, nodeId: string): { telemetry: OpenTelemetry; net: Net } {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  const headers = config.OTEL_EXPORTER_OTLP_HEADERS;
  // What the operator set is not checked.
  const exempt = [config.GANTRY_LLM_URL, endpoint].filter((address) => address !== undefined);
  const ca = config.GANTRY_EXTRA_CA;
  const net = createNet({
    allowPrivateNetwork: config.GANTRY_ALLOW_PRIVATE_NETWORK,
    exempt,
    ...(ca !== undefined && { ca }),
  });
  const telemetry = createTelemetry({
    log,
    net,
    version: versionOf(),
    role: config.GANTRY_ROLE,
    nodeId,
    traces:
      endpoint === undefined
        ? undefined
        : {
            endpoint,
            ...(headers && { headers }),
            serviceName: config.OTEL_SERVICE_NAME,
            ratio: config.OTEL_TRACES_SAMPLER_ARG,
          },
  });
  return { telemetry, net: traceNet(net, telemetry) };
}

export function ofPool({ idle, busy, waiting }: PoolFigures): Gauges {
  return { databaseConnectionsIdle: idle, databaseConnectionsBusy: busy, databaseQueriesWaiting: waiting };
}

function versionOf(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return String(version);
}
