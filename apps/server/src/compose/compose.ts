import { mkdir } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { newId } from "@gantry/wire";
import type { Config } from "../config/config.ts";
import { migrate, type OpenedDatabase } from "../engines/database/index.ts";
import { createMedia } from "../engines/media/create-media.ts";
import { objectParameters } from "../engines/models/text/tool-parameters.ts";
import { countTokens, estimateTokens } from "../engines/models/token-count.ts";
import { type Caller, openAccounts, scopeOf, signInUrl } from "../features/accounts/index.ts";
import { grantOpeningBalance, openBilling, startUsageUpkeep } from "../features/billing/index.ts";
import { defaultMaxUploadBytes, openFiles } from "../features/files/index.ts";
import { openMcpTools, runAgentFor } from "../features/mcp-tools/index.ts";
import { openNodes } from "../features/nodes/index.ts";
import { readClusterFigures } from "../features/operations/index.ts";
import { type LinkOf, openPredictions, renewLinks, sweepSpool } from "../features/predictions/index.ts";
import { openResponses } from "../features/responses/index.ts";
import { startRetention } from "../features/retention/index.ts";
import { openSecrets } from "../features/secrets/index.ts";
import { watchClock } from "../features/trusted-clock/index.ts";
import { openWebhooks, startWebhookSender } from "../features/webhooks/index.ts";
import { systemClock } from "../kernel/clock.ts";
import type { Loc } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { openAgentsPlatform } from "./agents-platform.ts";
import { checkFileStore } from "./check-file-store.ts";
import { closeInOrder } from "./close-in-order.ts";
import { notReady, openDatabase, openOwnBlobs, openQueue, openS3 } from "./engines.ts";
import { callableHere, startFinding } from "./find-models.ts";
import { makeHome } from "./home.ts";
import { namedTargets, openCatalogue } from "./models.ts";
import { oldestToKnow, ownSchema } from "./own-schema.ts";
import { readOwnVersion } from "./own-version.ts";
import type { StillThere } from "./stopping.rules.ts";
import { storeMark } from "./store-mark.ts";
import { mountSurfaces } from "./surfaces.ts";
import { addDatabaseGauges, openTelemetry } from "./telemetry.ts";
import { trustExtraCa } from "./trust-extra-ca.ts";
import { openVault } from "./vault.ts";

export interface Gantry {
  listener: RequestListener;
  /** Rows of the access table that have a route. */
  accessRows: ReadonlySet<string>;
  /** Why predictions cannot be served now; undefined if they can. */
  notReady(): Promise<string | undefined>;
  /** What this start has found on this machine, as lines for the operator. */
  found: readonly string[];
  /** The admin's API key, if this start created it. */
  firstKey: string | null;
  /** The admin's sign-in link, if this start created the admin. */
  firstSignInUrl: ((base: string) => string) | null;
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
  stillThere(): Omit<StillThere, "answers">;
}

const tokenizerAfterMs = 500;
const openingBalanceMicros = 100_000_000;

/** Opens engines and features in the order in which they need each other. The signal can abort the migration. */
export async function compose(
  config: Config,
  log: Log,
  onProgress: (text: string) => void,
  signal?: AbortSignal,
): Promise<Gantry> {
  const home = config.GANTRY_HOME;
  const clock = systemClock;
  trustExtraCa(config.GANTRY_EXTRA_CA);
  await makeHome(home, (warning) => log.warn(warning));
  const finding = startFinding(config, signal);
  const database = await openDatabase(config, log, onProgress);
  try {
    await migrate(database, ownSchema, { mustKnow: oldestToKnow, report: (text) => log.warn(text), signal });
    signal?.throwIfAborted();
    return await composeOn(database);
  } catch (error) {
    await database.close();
    throw error;
  }

  async function composeOn(database: OpenedDatabase): Promise<Gantry> {
    const nodeId = newId("node");
    const { vault, proofOf } = await openVault(config, database, log);
    const onTrouble = (text: string, error?: unknown) =>
      error === undefined ? log.warn(text) : log.error({ err: error }, text);
    const linkServed = config.S3_BUCKET === undefined ? await openOwnBlobs(home, config.GANTRY_FILES_URL) : undefined;
    const blobs = linkServed ?? (await openS3(config, onTrouble));
    const spoolDir = join(home, "spool");
    await mkdir(spoolDir, { recursive: true, mode: 0o700 });
    await sweepSpool(spoolDir);
    const found = await finding;
    const { telemetry, waysOut } = openTelemetry(config, log, nodeId, await callableHere(database, found));
    const { net } = waysOut;
    const media = createMedia({ onTrouble, onWork: telemetry.fileInspected });
    const queue = await openQueue(config, database, onTrouble);

    const targets = namedTargets({ models: () => models, agents: () => platform.agents });
    const accounts = await openAccounts({ database, clock, log, callableModels: targets.callableAmong });
    const { newAdminKey, newSignInToken, adminId } = await accounts.bootstrap(config.GANTRY_ADMIN_KEY);
    await grantOpeningBalance(database, adminId, openingBalanceMicros);
    const secrets = openSecrets({ database, vault });
    const catalogue = await openCatalogue({ config, database, log, secrets, waysOut, spoolDir, targets, found });
    const { models, providers } = catalogue;
    accounts.onUserChanged(models.forgetOwner);
    const files = openFiles({
      database,
      blobs,
      clock,
      maxUploadBytes: defaultMaxUploadBytes,
      storageBytesPerUser: config.GANTRY_UPLOAD_BYTES_PER_USER,
    });
    await checkFileStore(config, { files, blobs, isOwn: linkServed !== undefined }, log);
    const webhooks = openWebhooks({ database, vault, clock });
    const openStored = (caller: Caller, s3Path: string, loc: Loc) =>
      files.openOwnedFile({ ...scopeOf(caller), s3Path, loc });
    const linkOf: LinkOf = (s3Path, base) => files.presignDownload({ s3Path, base });
    const isWorker = config.GANTRY_ROLE !== "api";
    // Last of what may refuse the start: a node that has joined counts as running.
    const nodes = await openNodes({
      database,
      log,
      nodeId,
      proofOf,
      fileStore: await storeMark(config),
      isAlone: config.DATABASE_URL === undefined,
    });
    const predictions = await openPredictions({
      database,
      blobs,
      queue,
      clock,
      log,
      telemetry,
      nodeId,
      nodes,
      spoolDir,
      net,
      media,
      openStored,
      linkOf,
      acceptedModel: models.getAccepted,
      sealWebhook: webhooks.seal,
      workerParallel: isWorker ? config.GANTRY_WORKER_PARALLEL : 0,
      driverOf: catalogue.drivers.of,
      countTokens,
      estimateTokens,
      storeOutput: async (ownerId, predictionId, field, file) =>
        (await files.storeOutput({ ownerId, predictionId, field, file })).s3Path,
    });
    const sender = isWorker
      ? await startWebhookSender({
          database,
          net,
          vault,
          clock,
          log,
          telemetry,
          nodeId,
          renewPayload: (payload, ageMs) => renewLinks({ linkOf, publicUrl: config.GANTRY_PUBLIC_URL }, payload, ageMs),
        })
      : undefined;
    const trustedClock = watchClock({ database, log });
    const upkeep = await startUsageUpkeep({
      database,
      log,
      clock: trustedClock,
      retentionDays: config.GANTRY_USAGE_DAYS,
    });
    const retention = startRetention({
      database,
      blobs,
      files,
      log,
      clock: trustedClock,
      resultDays: config.GANTRY_RESULT_DAYS,
      uploadDays: config.GANTRY_UPLOAD_DAYS,
      deliveryDays: config.GANTRY_DELIVERY_DAYS,
    });

    const version = readOwnVersion();
    const platform = await openAgentsPlatform({
      database,
      blobs,
      queue,
      vault,
      secrets,
      net,
      clock,
      log,
      onTrouble,
      telemetry,
      nodeId,
      nodes,
      accounts,
      models,
      predictions,
      countTokens,
      readInput: predictions.readInput,
      storageBytesPerUser: config.GANTRY_UPLOAD_BYTES_PER_USER,
      parallel: isWorker ? config.GANTRY_RUN_PARALLEL : 0,
      version,
    });
    const { runs } = platform;
    const mcpTools = await openMcpTools({
      database,
      log,
      models,
      predictions,
      idp: platform.idp,
      agents: platform.agents,
      toolServers: platform.toolServers,
      runAgent: runAgentFor(runs),
      readInput: predictions.readInput,
      linksOf: predictions.linksOf,
      openOutput: (caller, s3Path) => openStored(caller, s3Path, ["output"]),
      linkOf: (s3Path, base) => files.presignDownload({ s3Path, base }),
      objectParameters,
    });
    addDatabaseGauges(telemetry, database, config.DATABASE_URL === undefined, readClusterFigures({ database, nodeId }));
    telemetry.addGauges(() => ({
      predictionsHeld: predictions.underWay(),
      workerSlots: isWorker ? config.GANTRY_WORKER_PARALLEL : 0,
      runsHeld: runs.underWay(),
      runSlots: isWorker ? config.GANTRY_RUN_PARALLEL : 0,
    }));
    const app = await mountSurfaces({
      config,
      version,
      log,
      clock,
      telemetry,
      accounts,
      billing: openBilling({ database }),
      storageOf: files.storageOf,
      providers,
      secrets,
      webhooks,
      files,
      linkServed,
      models,
      predictions,
      responses: openResponses({ database, vault, predictions }),
      agentsRoutes: platform.routes,
      mcpTools,
      runs,
      agents: platform.agents,
      marketplace: platform.marketplace,
    });
    // Loading the tokenizer takes 300 ms: after the start, but before the first cancel needs it.
    const warming = setTimeout(() => void countTokens("warm"), tokenizerAfterMs);

    const closing = closeInOrder([
      ["webhooks", () => sender?.stop()],
      ["runs", () => runs.close()],
      ["predictions", () => predictions.close()],
      ["the heartbeat", () => nodes.leave()],
      ["the queue", () => queue.close()],
      ["usage upkeep", () => upkeep.stop()],
      ["retention", () => retention.stop()],
      ["MCP tools", () => mcpTools.close()],
      ["agents", () => platform.close()],
      ["telemetry", () => telemetry.close()],
      [
        "request handling",
        () => Promise.all([catalogue.close(), accounts.close(), app.close(), media.close(), waysOut.close()]),
      ],
      ["the file store", () => blobs.close()],
      ["the database", () => database.close()],
    ]);

    return {
      listener: (request, response) => app.routing(request, response),
      accessRows: app.accessRows,
      notReady: () => notReady(database),
      found: catalogue.foundLines,
      firstKey: newAdminKey,
      firstSignInUrl: newSignInToken === null ? null : (base) => signInUrl(base, newSignInToken),
      drain: async (milliseconds) => {
        await Promise.all([runs.drain(milliseconds), predictions.drain(milliseconds)]);
      },
      async close() {
        clearTimeout(warming);
        await closing.close();
      },
      stillThere() {
        const { busy, waiting } = database.figures();
        return {
          predictions: predictions.underWay(),
          runs: runs.underWay(),
          queries: busy + waiting,
          closing: closing.current(),
        };
      },
    };
  }
}
