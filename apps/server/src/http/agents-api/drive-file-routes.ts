import { type DriveFileRecord, deleteQuery } from "@gantry/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type DriveFile, type Drives, filePath, treePath } from "../../features/drives/index.ts";
import { fault } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { requireMediaType } from "../foundation/require-media-type.ts";
import { discardBody } from "../multipart/index.ts";
import { preconditionOf } from "./drive-conditions.ts";
import { sendDriveFile } from "./drive-download.ts";
import { readUploadForm, receiveRawBody } from "./drive-upload.ts";

interface OfDrive {
  Params: { driveId: string };
}
interface AtPath {
  Params: { driveId: string; "*"?: string };
}

const inUrl = ["path", "path"];
const multipart = /^\s*multipart\/form-data\s*(;|$)/i;

/**
 * The routes that take bytes, and those that may come with a body that means nothing. No body is parsed before its route
 * is reached: bytes stay a stream, whatever type they claim.
 */
export function driveFileRoutes(
  app: FastifyInstance,
  { drives, ownerOf }: { drives: Drives; ownerOf(request: FastifyRequest): Promise<string> },
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  requireMediaType(app);
  // Whoever is refused before the body was read must still be able to read the answer.
  app.addHook("onError", async ({ raw }, reply) => {
    discardBody(raw, reply.raw);
  });

  app.delete<OfDrive>("/drives/:driveId", async (request, reply) => {
    const ownerId = await ownerOf(request);
    const { force } = parseOrThrow(deleteQuery, request.query, ["query"]);
    await drives.deleteDrive(ownerId, request.params.driveId, { force: force === "true" });
    return reply.code(204).send();
  });

  app.post<OfDrive>("/drives/:driveId/files", async (request, reply) => {
    const ownerId = await ownerOf(request);
    const { driveId } = request.params;
    await drives.readDrive(ownerId, driveId);
    const { staged, declaredType, texts } = await readUploadForm(
      request.raw,
      (body) => drives.stageContent(ownerId, body),
      drives.discardContent,
      ["path"],
    );
    try {
      const path = filePath(texts.path ?? "", ["body", "path"]);
      const options = { mode: "create", declaredType, precondition: preconditionOf(request) } as const;
      const { file } = await drives.placeContent(ownerId, driveId, path, staged, options);
      return reply.code(201).header("etag", `"${file.etag}"`).send(fileRecord(file));
    } catch (error) {
      await drives.discardContent(staged);
      throw error;
    }
  });

  app.route<AtPath>({
    method: ["GET", "HEAD"],
    url: "/drives/:driveId/files/*",
    handler: async (request, reply) => {
      const ownerId = await ownerOf(request);
      const path = filePath(pathInUrl(request), inUrl);
      return sendDriveFile(request, reply, (choose) => drives.readFile(ownerId, request.params.driveId, path, choose));
    },
  });

  app.put<AtPath>("/drives/:driveId/files/*", async (request, reply) => {
    const ownerId = await ownerOf(request);
    const { driveId } = request.params;
    const path = filePath(pathInUrl(request), inUrl);
    const declared = request.headers["content-type"];
    const precondition = preconditionOf(request);
    let file: DriveFile;
    if (multipart.test(declared ?? "")) {
      // Whoever would be refused anyway uploads nothing.
      const { file: standing } = await drives.readFile(ownerId, driveId, path, () => "nothing");
      precondition(standing.etag);
      const { staged, declaredType } = await readUploadForm(
        request.raw,
        (body) => drives.stageContent(ownerId, body, { replacedBytes: standing.size }),
        drives.discardContent,
        [],
      );
      try {
        const options = { mode: "replace", declaredType, precondition } as const;
        ({ file } = await drives.placeContent(ownerId, driveId, path, staged, options));
      } catch (error) {
        await drives.discardContent(staged);
        throw error;
      }
    } else {
      ({ file } = await receiveRawBody(request.raw, (body) =>
        drives.writeFile(ownerId, driveId, path, body, { mode: "replace", declaredType: declared, precondition }),
      ));
    }
    return reply.header("etag", `"${file.etag}"`).send(fileRecord(file));
  });

  app.delete<AtPath>("/drives/:driveId/files/*", async (request, reply) => {
    const ownerId = await ownerOf(request);
    const path = filePath(pathInUrl(request), inUrl);
    await drives.deleteFile(ownerId, request.params.driveId, path, { precondition: preconditionOf(request) });
    return reply.code(204).send();
  });

  // The first is what a path that was left empty comes to: it is told what is missing.
  for (const url of ["/drives/:driveId/tree", "/drives/:driveId/tree/*"]) {
    app.delete<AtPath>(url, async (request, reply) => {
      const ownerId = await ownerOf(request);
      await drives.deleteTree(ownerId, request.params.driveId, treePath(pathInUrl(request), inUrl, "%2F"));
      return reply.code(204).send();
    });
  }
}

/**
 * What stands behind `/files/` or `/tree/`, decoded once: `%2F` is a slash like any other, because no name has one. It may
 * begin with the slash of an absolute path. The router has taken one slash off the end, as everywhere; two are an empty
 * name.
 */
function pathInUrl(request: FastifyRequest<AtPath>): string {
  const given = request.params["*"] ?? "";
  const [target = ""] = request.raw.url?.split(/[?#]/, 1) ?? [];
  if (given !== "" && target.endsWith("//")) throw fault("value_error", "The path has an empty name", { loc: inUrl });
  return given;
}

function fileRecord({ path, size, createdAt }: DriveFile): DriveFileRecord {
  return { path, size, created_at: createdAt.toISOString() };
}
