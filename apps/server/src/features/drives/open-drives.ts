import type { Readable } from "node:stream";
import { isId, newId } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { record } from "../audit/index.ts";
import { deleteDrive, deleteFile, deleteSomeDrivesOf, deleteTree } from "./delete.ts";
import {
  type Drive,
  type DriveFile,
  type DrivesDeps,
  driveNotFound,
  type Item,
  type Page,
  type Precondition,
} from "./drive.ts";
import { exportFiles, type FileWithContent, listItems, type OpenedFile, readFile, type Wanted } from "./read-file.ts";
import { insertDrive, lockDrive, selectDrive, selectDriveIds, selectDrives, updateDrive } from "./store.ts";
import {
  discardBlob,
  type PlaceOptions,
  placeContent,
  type StagedContent,
  stageContent,
  type WriteOptions,
  writeFile,
} from "./write-file.ts";

/** An index has up to 200,000 chunks, whose deletion takes longer than the default deadline. */
const deadlineMs = 60_000;

/** Further changes of a drive in the same transaction. */
export type WithinDrive = (tx: Transaction, driveId: string) => Promise<void>;

/** Drives are visible only to their owner. Paths are normalised or refused here (`path.rules.ts`). */
export interface Drives {
  createDrive(
    ownerId: string,
    drive: { name: string; description?: string | null | undefined },
    within?: WithinDrive,
  ): Promise<Drive>;
  changeDrive(
    ownerId: string,
    driveId: string,
    changes: { name?: string | undefined; description?: string | null | undefined },
    within?: WithinDrive,
  ): Promise<Drive>;
  readDrive(ownerId: string, driveId: string): Promise<Drive>;
  listDrives(ownerId: string, page: Page): Promise<{ drives: Drive[]; total: number }>;
  deleteDrive(ownerId: string, driveId: string, options?: { force?: boolean }): Promise<void>;
  /** For an account that is being deleted. Returns how many were deleted: none are left after none. */
  deleteSomeOf(ownerId: string): Promise<number>;
  /** Which of the ids are drives of the owner. */
  drivesAmong(ownerId: string, driveIds: readonly string[]): Promise<ReadonlySet<string>>;

  listItems(ownerId: string, driveId: string, path: string, page?: Page): Promise<{ items: Item[]; total: number }>;
  /** All files, sorted by path. */
  exportFiles(ownerId: string, driveId: string): AsyncGenerator<FileWithContent>;
  readFile(ownerId: string, driveId: string, path: string, choose?: (file: DriveFile) => Wanted): Promise<OpenedFile>;
  /** Does not destroy a refused body. */
  writeFile(
    ownerId: string,
    driveId: string,
    path: string,
    body: Readable | Uint8Array,
    options: WriteOptions,
  ): Promise<{ file: DriveFile; isNew: boolean }>;
  deleteFile(
    ownerId: string,
    driveId: string,
    path: string,
    options?: { precondition?: Precondition | undefined },
  ): Promise<void>;
  deleteTree(ownerId: string, driveId: string, path: string): Promise<{ files: number }>;

  /** For bytes that arrive before their path: stage them, then place or discard them. */
  stageContent(
    ownerId: string,
    body: Readable | Uint8Array,
    options?: { replacedBytes?: number },
  ): Promise<StagedContent>;
  placeContent(
    ownerId: string,
    driveId: string,
    path: string,
    staged: StagedContent,
    options: PlaceOptions,
  ): Promise<{ file: DriveFile; isNew: boolean }>;
  discardContent(staged: StagedContent): Promise<void>;
}

export function openDrives(deps: DrivesDeps): Drives {
  const { sql } = deps.database;
  /** An invalid id never reaches the database, which refuses a NUL. */
  const at = (ownerId: string, driveId: string, path: string) => {
    if (!isId("drive", driveId)) throw driveNotFound();
    return { ownerId, driveId, path };
  };

  async function find(ownerId: string, driveId: string): Promise<Drive | undefined> {
    return isId("drive", driveId) ? selectDrive(sql, ownerId, driveId) : undefined;
  }

  return {
    async createDrive(ownerId, { name, description }, within) {
      const drive = { id: newId("drive"), name, description: description ?? null, createdAt: deps.clock.now() };
      await deps.database.transaction(async (tx) => {
        await insertDrive(tx, { ...drive, ownerId });
        await within?.(tx, drive.id);
        await record(tx, { action: "drive.create", object: { id: drive.id, name }, ownerId, after: fieldsOf(drive) });
      });
      return drive;
    },
    changeDrive: async (ownerId, driveId, changes, within) => {
      at(ownerId, driveId, "/");
      const change = async (tx: Transaction) => {
        if (!(await lockDrive(tx, ownerId, driveId))) throw driveNotFound();
        const former = await selectDrive(tx, ownerId, driveId);
        await updateDrive(tx, driveId, changes);
        await within?.(tx, driveId);
        const drive = await selectDrive(tx, ownerId, driveId);
        if (!former || !drive) throw driveNotFound();
        const sides = { before: fieldsOf(former), after: fieldsOf(drive) };
        await record(tx, { action: "drive.update", object: { id: driveId, name: drive.name }, ownerId, ...sides });
        return drive;
      };
      return deps.database.transaction(change, within && { deadlineMs });
    },
    async readDrive(ownerId, driveId) {
      const drive = await find(ownerId, driveId);
      if (!drive) throw driveNotFound();
      return drive;
    },
    listDrives: (ownerId, page) => selectDrives(sql, ownerId, page),
    deleteDrive: async (ownerId, driveId, { force = false } = {}) =>
      deleteDrive(deps, { ...at(ownerId, driveId, "/"), force }),
    deleteSomeOf: (ownerId) => deleteSomeDrivesOf(deps, ownerId),
    drivesAmong: (ownerId, driveIds) =>
      selectDriveIds(
        sql,
        ownerId,
        driveIds.filter((id) => isId("drive", id)),
      ),

    listItems: async (ownerId, driveId, path, page) => listItems(deps, at(ownerId, driveId, path), page),
    exportFiles: (ownerId, driveId) => exportFiles(deps, { ownerId, driveId }),
    readFile: async (ownerId, driveId, path, choose) => readFile(deps, at(ownerId, driveId, path), choose),
    writeFile: async (ownerId, driveId, path, body, options) =>
      writeFile(deps, at(ownerId, driveId, path), body, options),
    deleteFile: async (ownerId, driveId, path, options) => deleteFile(deps, at(ownerId, driveId, path), options),
    deleteTree: async (ownerId, driveId, path) => deleteTree(deps, at(ownerId, driveId, path)),

    stageContent: (ownerId, body, options) => stageContent(deps, ownerId, body, options),
    placeContent: async (ownerId, driveId, path, staged, options) =>
      placeContent(deps, at(ownerId, driveId, path), staged, options),
    discardContent: (staged) => discardBlob(deps, staged.key),
  };
}

function fieldsOf({ name, description }: Pick<Drive, "name" | "description">) {
  return { name, description };
}
