import type { Config } from "../config/config.ts";
import type { Database, PoolFigures } from "../engines/database/database.ts";
import { createNet } from "../engines/net/create-net.ts";
import type { Net } from "../engines/net/net.ts";
import { createTelemetry, type OpenTelemetry } from "../engines/telemetry/create-telemetry.ts";
import type { Gauges } from "../engines/telemetry/telemetry.ts";
import { traceNet } from "../engines/telemetry/traced-net.ts";
import type { FoundServer } from "../features/providers/index.ts";
import type { Log } from "../kernel/log.ts";
import { egressOf } from "./egress.ts";
import { withLocalHints } from "./local-hints.ts";
import { readOwnVersion } from "./own-version.ts";

export interface WaysOut {
  /** For calls on behalf of users. */
  net: Net;
  /** For the operator's models: may reach GANTRY_LLM_URL and servers found on this machine, which users must not. */
  operatorNet: Net;
  /** For signing in: may reach GANTRY_OIDC_ISSUER. */
  providerNet: Net;
  close(): Promise<void>;
}

export function openTelemetry(
  config: Config,
  log: Log,
  nodeId: string,
  /** Servers on this machine that the operator's models may call. */
  local: readonly FoundServer[] = [],
): { telemetry: OpenTelemetry; waysOut: WaysOut } {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  const headers = config.OTEL_EXPORTER_OTLP_HEADERS;
  const ca = config.GANTRY_EXTRA_CA;
  const egress = egressOf(config);
  // Addresses set by the operator may be private.
  const wayOut = (...exempt: readonly string[]) =>
    createNet({
      allowPrivateNetwork: config.GANTRY_ALLOW_PRIVATE_NETWORK,
      exempt,
      ...(ca !== undefined && { ca }),
      egress,
    });
  const ofOperator = [
    ...[config.GANTRY_LLM_URL, config.GANTRY_SEARXNG_URL].filter((url) => url !== undefined),
    ...local.map(({ url }) => url),
  ];
  const issuer = config.GANTRY_OIDC_ISSUER;
  const [net, operatorNet, providerNet, toCollector] = [
    wayOut(),
    wayOut(...ofOperator),
    wayOut(...(issuer === undefined ? [] : [issuer])),
    wayOut(...(endpoint === undefined ? [] : [endpoint])),
  ];
  const telemetry = createTelemetry({
    log,
    net: toCollector,
    version: readOwnVersion(),
    role: config.GANTRY_ROLE,
    nodeId,
    collector:
      endpoint === undefined
        ? undefined
        : {
            endpoint,
            ...(headers && { headers }),
            serviceName: config.OTEL_SERVICE_NAME,
            ratio: config.OTEL_TRACES_SAMPLER_ARG,
            exportsMetrics: config.OTEL_METRICS_EXPORTER === "otlp",
            capturesContent: config.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
          },
  });
  return {
    telemetry,
    waysOut: {
      net: traceNet(net, telemetry),
      operatorNet: withLocalHints(traceNet(operatorNet, telemetry), local),
      providerNet: traceNet(providerNet, telemetry),
      close: async () =>
        void (await Promise.all([net, operatorNet, providerNet, toCollector].map((each) => each.close()))),
    },
  };
}

export function addDatabaseGauges(
  telemetry: OpenTelemetry,
  database: Pick<Database, "figures" | "isFull" | "sql">,
  isEmbedded: boolean,
  clusterFigures: () => Promise<Gauges>,
): void {
  telemetry.addGauges(async () => {
    const [row] = await database.sql<{ version: string }[]>`
      select split_part(current_setting('server_version'), ' ', 1) as version`;
    return row ? { postgres: { version: row.version, isEmbedded } } : {};
  });
  telemetry.addGauges(() => ({ ...ofPool(database.figures()), databaseFull: Number(database.isFull()) }));
  telemetry.addGauges(() =>
    clusterFigures().then(
      (figures) => ({ ...figures, databaseUp: 1 }),
      () => ({ databaseUp: 0 }),
    ),
  );
}

function ofPool({ idle, busy, waiting }: PoolFigures): Gauges {
  return { databaseConnectionsIdle: idle, databaseConnectionsBusy: busy, databaseQueriesWaiting: waiting };
}
