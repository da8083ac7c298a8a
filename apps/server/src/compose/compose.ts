import { newId } from "@gantry/wire";
import type { Config } from "../config/config.ts";
import { migrate, type OpenedDatabase } from "../engines/database/index.ts";
import { createMedia } from "../engines/media/create-media.ts";
import { objectParameters } from "../engines/models/text/tool-parameters.ts";
import { countTokens, estimateTokens } from "../engines/models/token-count.ts";
import { createPictures } from "../engines/pictures/create-pictures.ts";
import { startDeletions } from "../features/account-deletion/index.ts";
import { type Caller, openAccounts, scopeOf, signInUrl } from "../features/accounts/index.ts";
import { openAudit, recordSettings } from "../features/audit/index.ts";
import { openBatches } from "../features/batches/index.ts";
import { grantOpeningBalance, openBilling, startUsageUpkeep } from "../features/billing/index.ts";
import { openConnectedApps } from "../features/connected-apps/index.ts";
import { defaultMaxUploadBytes, openFiles, openProtocolFiles } from "../features/files/index.ts";
import { openHistory } from "../features/history/index.ts";
import { openMcpTools, runAgentFor } from "../features/mcp-tools/index.ts";
import { openNodes } from "../features/nodes/index.ts";
import { openNotices, startNoticeSearch } from "../features/notices/index.ts";
import { readClusterFigures } from "../features/operations/index.ts";
import { type LinkOf, openPredictions, openSpool } from "../features/predictions/index.ts";
import { startRetention } from "../features/retention/index.ts";
import { openSecrets } from "../features/secrets/index.ts";
import { openSeries, startSampling } from "../features/series/index.ts";
import { watchClock } from "../features/trusted-clock/index.ts";
import { openWebhooks } from "../features/webhooks/index.ts";
import { systemClock } from "../kernel/clock.ts";
import type { Loc } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { openAgentsPlatform } from "./agents-platform.ts";
import { startAnswering } from "./answer-lines.ts";
import { checkFileStore } from "./check-file-store.ts";
import { closeInOrder } from "./close-in-order.ts";
import { daysToKeep } from "./days-to-keep.ts";
import { notReady, openDatabase, openOwnBlobs, openQueue, openS3 } from "./engines.ts";
import { openAccountExports } from "./exports.ts";
import { callableHere, startFinding } from "./find-models.ts";
import type { Gantry, SharedHome } from "./gantry.ts";
import { makeHome } from "./home.ts";
import { namedTargets, openCatalogue } from "./models.ts";
import { oldestToKnow, ownSchema } from "./own-schema.ts";
import { readOwnVersion } from "./own-version.ts";
import { settingsState } from "./settings-state.ts";
import { signInOptions } from "./sign-in.ts";
import { storeMark } from "./store-mark.ts";
import { mountSurfaces } from "./surfaces.ts";
import { addDatabaseGauges, openTelemetry } from "./telemetry.ts";
import { trustExtraCa } from "./trust-extra-ca.ts";
import { openVault } from "./vault.ts";
import { startSender } from "./webhook-sender.ts";

export type { Gantry, SharedHome };

const tokenizerAfterMs = 500;
const openingBalanceMicros = 100_000_000;

/** Opens engines and features in the order in which they need each other. The signal can abort the migration. */
export async function compose(
  config: Config,
  log: Log,
  onProgress: (text: string) => void,
  signal?: AbortSignal,
  shared?: SharedHome,
): Promise<Gantry> {
  const home = config.GANTRY_HOME;
  const clock = systemClock;
  trustExtraCa(config.GANTRY_EXTRA_CA);
  if (!shared) await makeHome(home, (warning) => log.warn(warning));
  const finding = startFinding(config, signal);
  const database = shared?.database ?? (await openDatabase(config, log, onProgress, shared?.isFirst ?? true));
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
    const spoolDir = await openSpool(home);
    const found = await finding;
    const { telemetry, waysOut } = openTelemetry(config, log, nodeId, await callableHere(database, found));
    const { net } = waysOut;
    const pictures = createPictures({ onTrouble });
    const media = createMedia({ pictures, onTrouble, onWork: telemetry.fileInspected });
    const queue = await openQueue(config, database, onTrouble);
    const common = { database, blobs, queue, clock, log, telemetry, net, nodeId };

    const targets = namedTargets({ models: () => models, agents: () => platform.agents });
    const accounts = await openAccounts({
      database,
      clock,
      log,
      callableModels: targets.callableAmong,
      teamCreation: config.GANTRY_TEAM_CREATION,
      signIn: signInOptions(config, vault, waysOut.providerNet),
    });
    const { newAdminKey, newSignInToken, adminId } = await accounts.bootstrap(config.GANTRY_ADMIN_KEY);
    await grantOpeningBalance(database, adminId, openingBalanceMicros);
    const secrets = openSecrets({ database, vault });
    const parts = { config, database, log, telemetry, secrets, waysOut, spoolDir, targets, found, pictures };
    const catalogue = await openCatalogue(parts);
    const { models, providers } = catalogue;
    accounts.onUserChanged(models.forgetOwner);
    const storageBytesPerUser = config.GANTRY_UPLOAD_BYTES_PER_USER;
    const filesDeps = { database, blobs, clock, maxUploadBytes: defaultMaxUploadBytes, storageBytesPerUser };
    const files = openFiles(filesDeps);
    const protocolFiles = openProtocolFiles(filesDeps);
    const batches = openBatches({ database, files: protocolFiles });
    await checkFileStore(config, { files, blobs, isOwn: linkServed !== undefined }, log);
    const webhooks = openWebhooks({ database, vault, clock });
    const openStored = (caller: Caller, s3Path: string, loc: Loc) =>
      files.openOwnedFile({ ...scopeOf(caller), s3Path, loc });
    const ownBucket = files.addressOf("");
    const linkOf: LinkOf = async (s3Path, base) =>
      s3Path.startsWith(ownBucket) ? files.presignDownload({ s3Path, base }) : undefined;
    const isWorker = config.GANTRY_ROLE !== "api";
    // Last of what may refuse the start: a node that has joined counts as running.
    const nodes = await openNodes({
      database,
      log,
      nodeId,
      proofOf,
      fileStore: await storeMark(config),
      isAlone: config.DATABASE_URL === undefined && (shared?.isFirst ?? true),
    });
    await nodes.forget(shared?.gone ?? []);
    await recordSettings(database, config.GANTRY_ROLE, settingsState(shared?.config ?? config, proofOf));
    const predictions = await openPredictions({
      ...common,
      isOneOfSeveral: shared !== undefined,
      nodes,
      spoolDir,
      keepsInputs: config.GANTRY_KEEP_INPUTS,
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
    const trustedClock = watchClock({ database, log });
    const { GANTRY_USAGE_DAYS: retentionDays } = config;
    const upkeep = await startUsageUpkeep({ database, log, clock: trustedClock, retentionDays });
    const days = daysToKeep(config);
    const retention = startRetention({ database, blobs, files, batches, log, clock: trustedClock, ...days });
    const sampling = startSampling({ database, log });
    const version = readOwnVersion();
    const platform = await openAgentsPlatform({
      ...common,
      vault,
      secrets,
      onTrouble,
      nodes,
      accounts,
      models,
      predictions,
      countTokens,
      readInput: predictions.readInput,
      search: { net: waysOut.operatorNet, searxngUrl: config.GANTRY_SEARXNG_URL },
      storageBytesPerUser,
      parallel: isWorker ? config.GANTRY_RUN_PARALLEL : 0,
      processes: config.GANTRY_PROCESSES,
      version,
      threadDays: days.threadDays,
    });
    const { runs, drives } = platform;
    const deletions = startDeletions({ database, log, batches, drives, files, predictions, runs });
    const sender = isWorker
      ? await startSender({ ...common, vault, runs, linkOf, publicUrl: config.GANTRY_PUBLIC_URL })
      : undefined;
    const noticeSearch = isWorker ? startNoticeSearch({ database, vault, log }) : undefined;
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
      processesServing: 1,
      processesMissing: 0,
      predictionsHeld: predictions.underWay(),
      workerSlots: isWorker ? config.GANTRY_WORKER_PARALLEL : 0,
      runsHeld: runs.underWay(),
      runSlots: isWorker ? config.GANTRY_RUN_PARALLEL : 0,
    }));
    const answering = startAnswering({ ...parts, ...catalogue, vault, predictions, accounts, protocolFiles, isWorker });
    const exported = {
      accounts,
      audit: openAudit({ database }),
      batches,
      billing: openBilling({ database }),
      files,
      history: openHistory({ database, blobs, files, predictions, batchesAmong: batches.among }),
      models,
      notices: openNotices({ database, vault }),
      providers,
      responses: answering.parts.responses,
      runs,
      secrets,
      storageOf: files.storageOf,
      webhooks,
    };
    const app = await mountSurfaces({
      ...exported,
      config,
      version,
      log,
      clock,
      telemetry,
      exposition: shared?.metrics ?? telemetry.exposition,
      exports: openAccountExports({ ...exported, database, log, agentParts: platform.exportParts }),
      series: openSeries({ database }),
      linkServed,
      predictions,
      ...answering.parts,
      protocolFiles,
      agentsRoutes: platform.routes,
      mcpTools,
      agents: platform.agents,
      triggers: platform.triggers,
      marketplace: platform.marketplace,
      toolServers: platform.toolServers,
      connectedApps: openConnectedApps({ database, clock, log, accounts, models, agents: platform.agents }),
    });
    // Loading the tokenizer takes 300 ms: after the start, but before the first cancel needs it.
    const warming = setTimeout(() => void countTokens("warm"), tokenizerAfterMs);

    const closing = closeInOrder([
      ["webhooks", () => sender?.stop()],
      ["deletions", () => deletions.stop()],
      ["batches", () => answering.stop()],
      ["runs", () => platform.stop()],
      ["predictions", () => predictions.close()],
      ["the heartbeat", () => nodes.leave()],
      ["the queue", () => queue.close()],
      ["usage upkeep", () => upkeep.stop()],
      ["retention", () => Promise.all([retention.stop(), sampling.stop(), noticeSearch?.stop()])],
      ["MCP tools", () => mcpTools.close()],
      ["agents", () => platform.close()],
      ["telemetry", () => telemetry.close()],
      [
        "request handling",
        () => Promise.all([catalogue.close(), accounts.close(), app.close(), media.close(), waysOut.close()]),
      ],
      ["pictures", () => pictures.close()],
      ["the file store", () => blobs.close()],
      ["the database", () => database.close()],
    ]);

    return {
      nodeId,
      metrics: telemetry.exposition,
      forgetNodes: nodes.forget,
      listener: (request, response) => app.routing(request, response),
      accessRows: app.accessRows,
      notReady: () => notReady(database),
      found: catalogue.foundLines,
      firstKey: newAdminKey,
      firstSignInUrl: newSignInToken === null ? null : (base) => signInUrl(base, newSignInToken),
      drain: async (milliseconds) => {
        await Promise.all([answering.stop(), platform.drain(milliseconds), predictions.drain(milliseconds)]);
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
