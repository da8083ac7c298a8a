import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@gantry/wire";
import { testDatabase } from "../../../../test/support/database.ts";
import { openFilesystemBlobs } from "../../../engines/blobs/filesystem.ts";
import { loadOrCreateSigningCredentials } from "../../../engines/blobs/signing-credentials.ts";
import type { Database } from "../../../engines/database/index.ts";
import { createMedia } from "../../../engines/media/create-media.ts";
import { imageManifest } from "../../../engines/models/builtin/image-manifest.ts";
import { createImagePainter } from "../../../engines/models/builtin/painter.ts";
import { createRules } from "../../../engines/models/builtin/rules.ts";
import { textModels } from "../../../engines/models/builtin/text-manifests.ts";
import { createDriver } from "../../../engines/models/create-driver.ts";
import { createNet } from "../../../engines/net/create-net.ts";
import { createPictures } from "../../../engines/pictures/create-pictures.ts";
import { openPostgresQueue } from "../../../engines/queue/postgres-queue.ts";
import { noTelemetry } from "../../../engines/telemetry/telemetry.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { createLog } from "../../../kernel/log.ts";
import { type Accounts, type Caller, openAccounts, scopeOf } from "../../accounts/index.ts";
import { grantOpeningBalance } from "../../billing/index.ts";
import { type Drives, openDrives } from "../../drives/index.ts";
import { type Files, openFiles } from "../../files/index.ts";
import { type Models, openModels, seedModels } from "../../models/index.ts";
import { openNodes } from "../../nodes/index.ts";
import { openPredictions, type Predictions } from "../../predictions/index.ts";
import type { RunModelDeps } from "./run-model.ts";

export interface PlatformUnderTest {
  database: Database;
  accounts: Accounts;
  models: Models;
  predictions: Predictions;
  drives: Drives;
  files: Files;
  deps: RunModelDeps;
  newCaller(
    username: string,
    options?: { credit?: number; plan?: "free" | "unlimited"; models?: string[] },
  ): Promise<Caller>;
  close(): Promise<void>;
}

/** Runs models on a real database, file system and network. */
export async function platformUnderTest(): Promise<PlatformUnderTest> {
  const { database, drop } = await testDatabase();
  const home = await mkdtemp(join(tmpdir(), "run-tools-"));
  const [clock, log, net, pictures] = [
    systemClock,
    createLog("silent"),
    createNet({ allowPrivateNetwork: true }),
    createPictures(),
  ];
  const media = createMedia({ pictures });
  const credentials = await loadOrCreateSigningCredentials(home);
  const blobs = await openFilesystemBlobs({ home, bucket: "gantry", credentials });
  const accounts = await openAccounts({ database, clock, log });
  await accounts.bootstrap("an-operator-key-of-more-than-32-characters");
  await seedModels(database, [{ owner: "gantry", name: "image", manifest: imageManifest }, ...textModels({})]);
  const painter = createImagePainter(pictures);
  const builtins = { image: painter, rules: createRules() };
  const models = await openModels({ database, log, builtins: Object.keys(builtins) });
  const files = openFiles({ database, blobs, clock, maxUploadBytes: 1_000_000 });
  const queue = openPostgresQueue({ database, onTrouble: () => {} });
  const nodeId = newId("node");
  const nodes = await openNodes({ database, log, nodeId, proofOf: () => "none", fileStore: "none", isAlone: true });
  const predictions = await openPredictions({
    database,
    blobs,
    queue,
    clock,
    log,
    telemetry: noTelemetry,
    nodeId,
    nodes,
    spoolDir: join(home, "spool"),
    keepsInputs: true,
    net,
    media,
    openStored: (caller, s3Path, loc) => files.openOwnedFile({ ...scopeOf(caller), s3Path, loc }),
    linkOf: async () => undefined,
    acceptedModel: models.getAccepted,
    sealWebhook: () => {
      throw new Error("no webhooks here");
    },
    workerParallel: 0,
    driverOf: async (model, backend) =>
      createDriver(model.manifest, backend, { net, spoolFolder: home, builtins, key: undefined, secrets: new Map() }),
    countTokens: async (text) => Math.ceil(text.length / 4),
    estimateTokens: async (text) => Math.ceil(text.length / 4),
    storeOutput: async (ownerId, predictionId, field, file) =>
      (await files.storeOutput({ ownerId, predictionId, field, file })).s3Path,
  });
  const drives = openDrives({ database, blobs, clock, agentsUsingDrive: async () => [] });

  return {
    database,
    accounts,
    models,
    predictions,
    drives,
    files,
    deps: {
      models,
      predictions,
      drives,
      readInput: predictions.readInput,
    },
    async newCaller(username, { credit = 10, plan = "unlimited", models: reach = null } = {}) {
      const { id } = await accounts.createUser({ username, plan });
      if (credit !== 0) await grantOpeningBalance(database, id, credit * 1_000_000);
      const { key } = await accounts.createKeyFor(username, {
        name: "",
        expiresAt: null,
        monthlyLimitMicros: null,
        keepsInputs: true,
        models: reach,
      });
      return accounts.authenticate(key);
    },
    async close() {
      await predictions.drain(1000);
      await predictions.close();
      await nodes.leave();
      await queue.close();
      await Promise.all([models.close(), accounts.close(), painter.close(), media.close(), net.close()]);
      await pictures.close();
      await blobs.close();
      await drop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
