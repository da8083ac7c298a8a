import type { DriveFileRecord } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type DriveFile, type Drives, filePath, treePath } from "../../features/drives/index.ts";
import { fault } from "../../kernel/errors.ts";
import { discardBody } from "../foundation/discard-body.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { requireMediaType } from "../foundation/require-media-type.ts";
import { rawRoute, route } from "../foundation/route.ts";
import { preconditionOf, sendDriveFile } from "./drive-download.ts";
import { readUploadForm, receiveRawBody } from "./drive-upload.ts";

const operations = agentsOperations;
const inUrl = ["path", "path"];
const multipart = /^\s*multipart\/form-data\s*(;|$)/i;

/** Routes that receive bytes, or may receive a body that they ignore. No body is parsed: bytes stay a stream. */
export function driveFileRoutes(app: FastifyInstance, drives: Drives): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  requireMediaType(app);
  // A client that is still sending must be able to read the refusal.
  app.addHook("onError", async ({ raw }, reply) => {
    discardBody(raw, reply.raw);
  });

  route(app, operations.deleteDrive, async ({ caller, params, query }) => {
    await drives.deleteDrive(caller.userId, params.drive_id, { force: query.force === "true" });
  });

  route(
    app,
    operations.uploadDriveFile,
    async ({ caller: { userId }, params: { drive_id: driveId }, request, reply }) => {
      await drives.readDrive(userId, driveId);
      const { staged, declaredType, texts } = await readUploadForm(
        request.raw,
        (body) => drives.stageContent(userId, body),
        drives.discardContent,
        ["path"],
      );
      try {
        const path = filePath(texts.path ?? "", ["body", "path"]);
        const options = { mode: "create", declaredType, precondition: preconditionOf(request) } as const;
        const { file } = await drives.placeContent(userId, driveId, path, staged, options);
        reply.header("etag", `"${file.etag}"`);
        return driveFileRecord(file);
      } catch (error) {
        await drives.discardContent(staged);
        throw error;
      }
    },
  );

  rawRoute(app, [operations.downloadDriveFile, operations.inspectDriveFile], {}, async (request, reply) => {
    const { userId } = await callerOf(request);
    const path = filePath(pathInUrl(request), inUrl);
    return sendDriveFile(request, reply, (choose) => drives.readFile(userId, request.params.drive_id, path, choose));
  });

  route(
    app,
    operations.replaceDriveFile,
    async ({ caller: { userId }, params: { drive_id: driveId }, request, reply }) => {
      const path = filePath(pathInUrl(request), inUrl);
      const declared = request.headers["content-type"];
      const precondition = preconditionOf(request);
      let file: DriveFile;
      if (multipart.test(declared ?? "")) {
        // A client that would be refused anyway uploads nothing.
        const { file: current } = await drives.readFile(userId, driveId, path, () => "nothing");
        precondition(current.etag);
        const { staged, declaredType } = await readUploadForm(
          request.raw,
          (body) => drives.stageContent(userId, body, { replacedBytes: current.size }),
          drives.discardContent,
          [],
        );
        try {
          const options = { mode: "replace", declaredType, precondition } as const;
          ({ file } = await drives.placeContent(userId, driveId, path, staged, options));
        } catch (error) {
          await drives.discardContent(staged);
          throw error;
        }
      } else {
        ({ file } = await receiveRawBody(request.raw, (body) =>
          drives.writeFile(userId, driveId, path, body, { mode: "replace", declaredType: declared, precondition }),
        ));
      }
      reply.header("etag", `"${file.etag}"`);
      return driveFileRecord(file);
    },
  );

  route(app, operations.deleteDriveFile, async ({ caller, params, request }) => {
    const path = filePath(pathInUrl(request), inUrl);
    await drives.deleteFile(caller.userId, params.drive_id, path, { precondition: preconditionOf(request) });
  });

  const deleteTree = async (request: FastifyRequest<{ Params: { drive_id: string } }>, reply: FastifyReply) => {
    const { userId } = await callerOf(request);
    await drives.deleteTree(userId, request.params.drive_id, treePath(pathInUrl(request), inUrl, "%2F"));
    return reply.code(204).send();
  };
  rawRoute(app, [operations.deleteDriveTree], {}, deleteTree);
  // An empty path ends up here, and the client learns that it is missing.
  app.delete("/drives/:drive_id/tree", deleteTree);
}

/**
 * The path after `/files/` or `/tree/`, decoded once: `%2F` is a slash, because no name contains one. The router has
 * removed one slash at the end; two are an empty name.
 */
function pathInUrl(request: Pick<FastifyRequest, "params" | "raw">): string {
  const { "*": given = "" } = request.params as { "*"?: string };
  const [target = ""] = request.raw.url?.split(/[?#]/, 1) ?? [];
  if (given !== "" && target.endsWith("//")) throw fault("value_error", "The path has an empty name", { loc: inUrl });
  return given;
}

export function driveFileRecord({ path, size, createdAt }: DriveFile): DriveFileRecord {
  return { path, size, created_at: createdAt.toISOString() };
}
