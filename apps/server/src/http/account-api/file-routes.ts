import { type FileRecord, isId } from "@gantry/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import type { Files, ListedFile } from "../../features/files/index.ts";
import { fault } from "../../kernel/errors.ts";
import { acceptEmptyBodies } from "../foundation/accept-empty-bodies.ts";
import { listEnvelope, readPageQuery } from "../foundation/page-query.ts";

export interface FileRouteDeps {
  files: Files;
  callerOf(request: FastifyRequest): Promise<Caller>;
}

/** What the caller has in storage: listed, and deleted one by one. To be registered in a scope of its own. */
export function fileRoutes(app: FastifyInstance, { files, callerOf }: FileRouteDeps): void {
  // Before the body is read: whoever has no key sends nothing that is looked at.
  app.addHook("onRequest", async (request) => {
    await callerOf(request);
  });
  acceptEmptyBodies(app);

  app.get("/api/v2/files", async (request) => {
    const scope = scopeOf(await callerOf(request));
    const page = readPageQuery(request.query);
    const { entries, total } = await files.listFiles(scope, page);
    return listEnvelope(entries.map(toWire), page, total);
  });

  app.delete<{ Params: { id: string } }>("/api/v2/files/:id", async (request, reply) => {
    const scope = scopeOf(await callerOf(request));
    const { id } = request.params;
    // A text that is no id names nothing; it also never reaches the database.
    if (!isId("file", id)) throw fault("not_found", "File not found");
    await files.deleteFile(scope, id);
    return reply.code(204).send();
  });
}

function toWire(file: ListedFile): FileRecord {
  return {
    id: file.id,
    s3_path: file.s3Path,
    origin: file.origin,
    content_type: file.contentType,
    size: file.size,
    prediction_id: file.predictionId,
    created_at: file.createdAt.toISOString(),
    stored_at: file.storedAt?.toISOString() ?? null,
  };
}
