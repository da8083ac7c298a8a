import {
  createDriveBody,
  type DriveItemList,
  type DriveList,
  type DriveRecord,
  itemsQuery,
  listQuery,
} from "@gantry/wire";
import type { FastifyRequest } from "fastify";
import { type Drive, type Drives, directoryPath } from "../../features/drives/index.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import type { AgentsRoutes } from "./agents-api.ts";
import { driveFileRoutes } from "./drive-file-routes.ts";

interface OfDrive {
  Params: { driveId: string };
}

/** Drives and what stands in them; the files themselves are in `drive-file-routes.ts`. */
export function driveRoutes(drives: Drives): AgentsRoutes {
  return (app, callerOf) => {
    const ownerOf = async (request: FastifyRequest): Promise<string> => (await callerOf(request)).userId;

    app.post("/drives", async (request, reply) => {
      const ownerId = await ownerOf(request);
      const drive = await drives.createDrive(ownerId, parseOrThrow(createDriveBody, request.body, ["body"]));
      return reply.code(201).send(driveRecord(drive));
    });

    app.get("/drives", async (request): Promise<DriveList> => {
      const ownerId = await ownerOf(request);
      const range = parseOrThrow(listQuery, request.query, ["query"]);
      const { drives: rows, total } = await drives.listDrives(ownerId, range);
      return { drives: rows.map(driveRecord), total, ...range };
    });

    app.get<OfDrive>("/drives/:driveId", async (request) =>
      driveRecord(await drives.readDrive(await ownerOf(request), request.params.driveId)),
    );

    app.get<OfDrive>("/drives/:driveId/items", async (request): Promise<DriveItemList> => {
      const ownerId = await ownerOf(request);
      const { path: given, ...page } = parseOrThrow(itemsQuery, request.query, ["query"]);
      const path = directoryPath(given, ["query", "path"]);
      const { items, total } = await drives.listItems(ownerId, request.params.driveId, path, page);
      return { items, total, ...page };
    });

    app.register(async (scope) => driveFileRoutes(scope, { drives, ownerOf }));
  };
}

function driveRecord({ id, name, description, createdAt }: Drive): DriveRecord {
  return { id, name, description, created_at: createdAt.toISOString() };
}
