import type { DriveIndexRecord, DriveRecord, IndexFileRecord } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import { type Drive, type Drives, directoryPath } from "../../features/drives/index.ts";
import type { IndexFile, Knowledge } from "../../features/knowledge/index.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";
import { driveFileRoutes } from "./drive-file-routes.ts";

const operations = agentsOperations;

/** Drives, their indexes and the list of their content; the files themselves are in `drive-file-routes.ts`. */
export function driveRoutes(drives: Drives, knowledge: DriveIndexes): AgentsRoutes {
  const recordOf = async (ownerId: string, drive: Drive) => {
    const indexes = await knowledge.readIndexes(ownerId, [drive.id]);
    return driveRecord(drive, indexes.get(drive.id));
  };

  return (app) => {
    route(app, operations.createDrive, async ({ caller, body: { index, ...drive } }) => {
      const within = index ? await knowledge.prepareIndex(caller, index) : undefined;
      return recordOf(caller.userId, await drives.createDrive(caller.userId, drive, within));
    });

    route(app, operations.listDrives, async ({ caller, query }) => {
      const { drives: rows, total } = await drives.listDrives(caller.userId, query);
      const ids = rows.map(({ id }) => id);
      const indexes = await knowledge.readIndexes(caller.userId, ids);
      return { drives: rows.map((drive) => driveRecord(drive, indexes.get(drive.id))), total, ...query };
    });

    route(app, operations.readDrive, async ({ caller, params }) =>
      recordOf(caller.userId, await drives.readDrive(caller.userId, params.drive_id)),
    );

    route(app, operations.changeDrive, async ({ caller, params, body: { index, ...changes } }) => {
      const { userId } = caller;
      // A drive of another user is not found, whatever the index.
      await drives.readDrive(userId, params.drive_id);
      const within = index === undefined ? undefined : await knowledge.prepareIndex(caller, index);
      return recordOf(userId, await drives.changeDrive(userId, params.drive_id, changes, within));
    });

    route(app, operations.listIndexFiles, async ({ caller, params, query }) => {
      const { id } = await drives.readDrive(caller.userId, params.drive_id);
      const { files, total } = await knowledge.listFiles(caller.userId, id, query);
      const { limit, offset } = query;
      return { files: files.map(indexFileRecord), total, limit, offset };
    });

    route(app, operations.rebuildIndex, async ({ caller, params }) => {
      await knowledge.rebuild(caller, params.drive_id);
      return recordOf(caller.userId, await drives.readDrive(caller.userId, params.drive_id));
    });

    route(app, operations.listDriveItems, async ({ caller, params, query: { path: given, ...page } }) => {
      const path = directoryPath(given, ["query", "path"]);
      const { items, total } = await drives.listItems(caller.userId, params.drive_id, path, page);
      return { items, total, ...page };
    });

    app.register(async (scope) => driveFileRoutes(scope, drives));
  };
}

type DriveIndexes = Pick<Knowledge, "prepareIndex" | "readIndexes" | "listFiles" | "rebuild">;

export function driveRecord(
  { id, name, description, createdAt }: Drive,
  index: DriveIndexRecord | undefined,
): DriveRecord {
  return { id, name, description, index: index ?? null, created_at: createdAt.toISOString() };
}

function indexFileRecord({ path, status, reason, chunks, updatedAt }: IndexFile): IndexFileRecord {
  return { path, status, ...(reason !== null && { reason }), chunks, updated_at: updatedAt.toISOString() };
}
