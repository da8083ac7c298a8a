import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import { consoleFolder } from "../config/own-folder.ts";
import type { OpenTelemetry } from "../engines/telemetry/create-telemetry.ts";
import type { Agents } from "../features/agents/index.ts";
import type { Audit } from "../features/audit/index.ts";
import type { Batches } from "../features/batches/index.ts";
import type { ConnectedApps } from "../features/connected-apps/index.ts";
import type { Exports } from "../features/exports/index.ts";
import type { Files, ProtocolFiles } from "../features/files/index.ts";
import type { History } from "../features/history/index.ts";
import type { Notices } from "../features/notices/index.ts";
import type { Providers } from "../features/providers/index.ts";
import type { Responses } from "../features/responses/index.ts";
import type { Runs } from "../features/runs/index.ts";
import type { Secrets } from "../features/secrets/index.ts";
import type { ToolServers } from "../features/tool-servers/index.ts";
import type { Triggers } from "../features/triggers/index.ts";
import { accountApi } from "../http/account-api/account-api.ts";
import { type TakeDownDeps, takeDownRoutes } from "../http/account-api/admin-routes.ts";
import { aliasRoutes } from "../http/account-api/alias-routes.ts";
import { auditRoutes } from "../http/account-api/audit-routes.ts";
import type { AccountApiDeps } from "../http/account-api/deps.ts";
import { noticeRoutes } from "../http/account-api/notice-routes.ts";
import { predictionRoutes } from "../http/account-api/prediction-routes.ts";
import { providerRoutes } from "../http/account-api/provider-routes.ts";
import { secretRoutes } from "../http/account-api/secret-routes.ts";
import { type StorageRouteDeps, storageRoutes } from "../http/account-api/storage-routes.ts";
import { type AgentsRoutes, agentsApi } from "../http/agents-api/agents-api.ts";
import { anthropicDialect } from "../http/anthropic-api/anthropic-dialect.ts";
import { messagesRoutes } from "../http/anthropic-api/messages-routes.ts";
import { type BlobApiDeps, blobApi } from "../http/blob-api/index.ts";
import { authorizationRoutes } from "../http/console-api/authorization-routes.ts";
import { consoleFiles } from "../http/console-api/console-files.ts";
import { sessionRoutes } from "../http/console-api/session-routes.ts";
import { docsPages } from "../http/docs-pages/index.ts";
import type { BodyMemory } from "../http/doors/body-memory.ts";
import { commonRoutes, doors } from "../http/doors/doors.ts";
import { exportRoutes } from "../http/exports/export-routes.ts";
import { requireCaller } from "../http/foundation/require-caller.ts";
import { createServer } from "../http/foundation/server.ts";
import { hooksApi } from "../http/hooks-api/hooks-api.ts";
import { oauthCallback } from "../http/hooks-api/oauth-callback.ts";
import { type McpApiDeps, mcpApi } from "../http/mcp/mcp-api.ts";
import { metricsRoute } from "../http/metrics/metrics-route.ts";
import type { ModelApiDeps } from "../http/model-api/deps.ts";
import { modelApi } from "../http/model-api/model-api.ts";
import { modelCards } from "../http/model-cards/model-cards.ts";
import { oauthApi } from "../http/oauth-api/oauth-api.ts";
import { batchesRoutes } from "../http/openai-api/batches-routes.ts";
import { chatRoute } from "../http/openai-api/chat-route.ts";
import { embeddingsRoute } from "../http/openai-api/embeddings-route.ts";
import { filesRoutes } from "../http/openai-api/files-routes.ts";
import { imagesRoutes } from "../http/openai-api/images-routes.ts";
import { modelsRoute } from "../http/openai-api/models-route.ts";
import { openaiDialect } from "../http/openai-api/openai-dialect.ts";
import { responsesRoutes } from "../http/openai-api/responses-routes.ts";

export interface Surfaces extends Omit<AccountApiDeps, "keeps">, ModelApiDeps {
  config: Config;
  telemetry: OpenTelemetry;
  /** What /metrics answers. */
  exposition(): Promise<string>;
  notices: Notices;
  providers: Providers;
  secrets: Secrets;
  webhooks: StorageRouteDeps["webhooks"];
  history: History;
  files: Files;
  /** The file store whose links this server serves itself; undefined: they lead to the bucket. */
  linkServed: BlobApiDeps["store"] | undefined;
  agentsRoutes: readonly AgentsRoutes[];
  mcpTools: McpApiDeps["tools"];
  agents: Agents;
  audit: Audit;
  exports: Exports;
  toolServers: ToolServers;
  runs: Runs;
  connectedApps: ConnectedApps;
  triggers: Triggers;
  responses: Responses;
  protocolFiles: ProtocolFiles;
  batches: Batches;
  bodies: BodyMemory;
  marketplace: TakeDownDeps["marketplace"];
}

/** Only the store knows the host name of a bucket. */
async function bucketAddress(files: Files, { S3_BUCKET }: Config): Promise<string> {
  return (await files.presignDownload({ s3Path: `s3://${S3_BUCKET}/a`, base: "" })).url;
}

/** All that is served over HTTP, ready to answer. Part of composing. */
export async function mountSurfaces(parts: Surfaces): Promise<FastifyInstance> {
  const { config, log, telemetry, files, linkServed, models } = parts;
  const { authenticate } = parts.accounts;
  const publicUrl = config.GANTRY_PUBLIC_URL;
  const filesUrl = linkServed && config.GANTRY_FILES_URL;
  const linkAddress = linkServed ? (filesUrl ?? publicUrl) : await bucketAddress(files, config);
  const app = createServer({
    log,
    publicUrl,
    filesUrl,
    trustedProxies: config.GANTRY_TRUSTED_PROXIES.filter((entry) => entry.kind === "range"),
    telemetry,
    authenticate,
  });

  // No client is sent to a worker.
  const hasConsole = config.GANTRY_ROLE !== "worker";
  await app.register(docsPages, { version: parts.version, hasConsole });
  if (hasConsole) {
    await app.register(consoleFiles, { log, folder: consoleFolder, linkAddress });
  }
  if (linkServed) {
    await app.register(blobApi, {
      store: linkServed,
      linkAddress,
      findUploadTarget: files.findUploadTarget,
      recordUpload: files.recordUpload,
    });
  }
  await app.register(accountApi, {
    ...parts,
    keeps: {
      inputs: config.GANTRY_KEEP_INPUTS,
      result_days: config.GANTRY_RESULT_DAYS,
      usage_days: config.GANTRY_USAGE_DAYS,
      delivery_days: config.GANTRY_DELIVERY_DAYS,
    },
  });
  const { agents, audit, marketplace } = parts;
  await app.register(takeDownRoutes, { agents, models, marketplace });
  await app.register(aliasRoutes, { models });
  await app.register(auditRoutes, { audit });
  await app.register(noticeRoutes, { notices: parts.notices });
  await app.register(exportRoutes, { accounts: parts.accounts, exports: parts.exports });
  await app.register(sessionRoutes, {
    accounts: parts.accounts,
    audit,
    clock: parts.clock,
    publicUrl,
    traceUrl: config.GANTRY_TRACE_URL,
  });
  await app.register(providerRoutes, { providers: parts.providers });
  await app.register(secretRoutes, { secrets: parts.secrets, operatorId: parts.providers.operator.id });
  await app.register(storageRoutes, { files, webhooks: parts.webhooks });
  await app.register(predictionRoutes, { history: parts.history });
  await app.register(metricsRoute, {
    exposition: parts.exposition,
    callerOf: requireCaller(authenticate),
    isOpen: config.GANTRY_METRICS_OPEN,
    key: config.GANTRY_METRICS_KEY,
  });
  await app.register(doors, {
    ...parts,
    corsOrigins: config.GANTRY_CORS_ORIGINS,
    mounts: [
      {
        dialectOf: () => openaiDialect,
        routes: [chatRoute, embeddingsRoute, imagesRoutes, responsesRoutes, filesRoutes, batchesRoutes],
      },
      { dialectOf: () => anthropicDialect, routes: [messagesRoutes] },
      // Lists of models have one path for both protocols.
      {
        dialectOf: ({ headers }) => (headers["anthropic-version"] === undefined ? openaiDialect : anthropicDialect),
        routes: [modelsRoute, commonRoutes(parts.version)],
      },
    ],
  });
  await app.register(agentsApi, { log, routes: parts.agentsRoutes });
  await app.register(hooksApi, { log, triggers: parts.triggers });
  await app.register(oauthCallback, { toolServers: parts.toolServers });
  await app.register(modelCards, { models, predictions: parts.predictions, authenticate, version: parts.version });
  await app.register(modelApi, parts);
  const corsOrigins = config.GANTRY_CORS_ORIGINS;
  await app.register(mcpApi, {
    log,
    authenticate,
    tools: parts.mcpTools,
    publicUrl,
    corsOrigins,
    version: parts.version,
  });
  await app.register(oauthApi, { connectedApps: parts.connectedApps });
  await app.register(authorizationRoutes, { connectedApps: parts.connectedApps, clock: parts.clock });
  await app.ready();
  return app;
}
