import type { DriveRecord } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import { type Drive, type Drives, directoryPath } from "../../features/drives/index.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";
import { driveFileRoutes } from "./drive-file-routes.ts";

const operations = agentsOperations;

/** Drives and the list of their content; the files themselves are in `drive-file-routes.ts`. */
export function driveRoutes(drives: Drives): AgentsRoutes {
  return (app) => {
    route(app, operations.createDrive, async ({ caller, body }) =>
      driveRecord(await drives.createDrive(caller.userId, body)),
    );

    route(app, operations.listDrives, async ({ caller, query }) => {
      const { drives: rows, total } = await drives.listDrives(caller.userId, query);
      return { drives: rows.map(driveRecord), total, ...query };
    });

    route(app, operations.readDrive, async ({ caller, params }) =>
      driveRecord(await drives.readDrive(caller.userId, params.drive_id)),
    );

    route(app, operations.listDriveItems, async ({ caller, params, query: { path: given, ...page } }) => {
      const path = directoryPath(given, ["query", "path"]);
      const { items, total } = await drives.listItems(caller.userId, params.drive_id, path, page);
      return { items, total, ...page };
    });

    app.register(async (scope) => driveFileRoutes(scope, drives));
  };
}

function driveRecord({ id, name, description, createdAt }: Drive): DriveRecord {
  return { id, name, description, created_at: createdAt.toISOString() };
}
