import type { Database, Transaction } from "../../engines/database/database.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import { driveNotFound, lockDrive, markFiles, type WithinDrive } from "../drives/index.ts";
import { findEmbeddingModel } from "./embed.ts";
import type { DriveIndex, KnowledgeDeps } from "./knowledge.ts";
import {
  deleteIndex,
  insertIndex,
  renewGeneration,
  resumeIndex,
  retryFailed,
  selectChangedDrives,
  selectIndex,
  selectOwner,
} from "./store.ts";

/** Marking all files of a large drive takes longer than the default deadline. */
const deadlineMs = 60_000;

/** Checks the model, and returns the change for the transaction that creates or changes the drive. */
export async function prepareIndex(
  deps: Pick<KnowledgeDeps, "models">,
  caller: Caller,
  index: { embedding_model: string | null } | null,
): Promise<WithinDrive> {
  if (index === null) return (tx, driveId) => deleteIndex(tx, driveId);
  const embeddingModel = index.embedding_model;
  if (embeddingModel !== null) await checkModel(deps, caller, embeddingModel);
  return (tx, driveId) => putIndex(tx, driveId, { caller, embeddingModel });
}

async function checkModel(deps: Pick<KnowledgeDeps, "models">, caller: Caller, name: string): Promise<void> {
  await findEmbeddingModel(deps, caller, name).catch((error: unknown) => {
    if (!(error instanceof Fault) || error.isServerError) throw error;
    throw fault("value_error", error.message, { loc: ["body", "index", "embedding_model"], cause: error });
  });
}

/** Needs the lock of the drive. */
async function putIndex(
  tx: Transaction,
  driveId: string,
  { caller, embeddingModel }: { caller: Caller; embeddingModel: string | null },
): Promise<void> {
  const index = await selectIndex(tx, driveId);
  const given = { keyId: caller.keyId, embeddingModel };
  if (!index) {
    await insertIndex(tx, { driveId, ownerId: caller.userId, ...given });
    await markFiles(tx, driveId, "all");
  } else if (index.embeddingModel === embeddingModel) {
    await retryFailed(tx, driveId);
    await resumeIndex(tx, driveId, caller.keyId);
  } else {
    await markFiles(tx, driveId, "all");
    await renewGeneration(tx, driveId, given);
  }
}

/** Indexes all files again. Vectors are made again, because the model may have changed behind its name. */
export async function rebuildIndex(database: Database, caller: Caller, driveId: string): Promise<void> {
  await database.transaction(
    async (tx) => {
      if (!(await lockDrive(tx, caller.userId, driveId))) throw driveNotFound();
      const index = await selectIndex(tx, driveId);
      if (!index) throw fault("conflict", "The drive has no index. Set `index` of the drive first.");
      await markFiles(tx, driveId, "all");
      await renewGeneration(tx, driveId, { keyId: caller.keyId, embeddingModel: index.embeddingModel });
    },
    { deadlineMs },
  );
}

/** The same for the server itself, with the key of the index. Without effect if that generation has ended. */
export async function restartIndex(
  database: Database,
  { driveId, generation }: Pick<DriveIndex, "driveId" | "generation">,
): Promise<void> {
  await inLock(database, driveId, async (tx) => {
    const index = await selectIndex(tx, driveId);
    if (index?.generation !== generation) return;
    await markFiles(tx, driveId, "all");
    await renewGeneration(tx, driveId, index);
  });
}

/** Marks files that nodes of an earlier version have written, which do not know indexes. */
export async function remarkChanged(database: Database, driveId?: string): Promise<void> {
  const drives = driveId === undefined ? await selectChangedDrives(database.sql) : [driveId];
  for (const id of drives) await inLock(database, id, (tx) => markFiles(tx, id, "changed"));
}

async function inLock(database: Database, driveId: string, work: (tx: Transaction) => Promise<void>): Promise<void> {
  const ownerId = await selectOwner(database.sql, driveId);
  if (ownerId === undefined) return;
  await database.transaction(
    async (tx) => {
      if (await lockDrive(tx, ownerId, driveId)) await work(tx);
    },
    { deadlineMs },
  );
}
