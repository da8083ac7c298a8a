import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createUploadLink, type PresignedUrl, signDownload, storeUpload } from "../../features/files/index.ts";
import { fault } from "../../kernel/errors.ts";
import { readMultipart } from "../multipart/index.ts";
import { clientPresence } from "./client-presence.ts";
import type { OfModel, RouteDeps } from "./deps.ts";

/** Links to storage, and an upload in one call. The model in the path decides only whether the caller may come here. */
export function storageRoutes(app: FastifyInstance, deps: RouteDeps): void {
  async function callerAt(request: FastifyRequest<OfModel>) {
    const caller = await deps.callerOf(request);
    await deps.models.resolveForRead(caller, request.params.owner, request.params.model);
    return caller;
  }

  app.get<OfModel & { Querystring: Record<string, unknown> }>("/api/v1/:owner/:model/upload_url", async (request) => {
    const { userId } = await callerAt(request as FastifyRequest<OfModel>);
    const { filename, content_type: contentType } = request.query;
    return createUploadLink(deps.files, { ownerId: userId, base: request.baseUrl, filename, contentType });
  });

  app.get<OfModel & { Querystring: Record<string, unknown> }>(
    "/api/v1/:owner/:model/download_s3_url",
    async (request) => {
      const { userId } = await callerAt(request as FastifyRequest<OfModel>);
      const s3Path = request.query.s3_path_to_sign;
      return signDownload(deps.files, { ownerId: userId, base: request.baseUrl, s3Path });
    },
  );

  app.post<OfModel>("/api/v1/:owner/:model/upload_file", async (request, reply) => {
    const { userId } = await callerAt(request);
    const signal = clientPresence(reply);
    let stored: PresignedUrl | undefined;
    const form = await readMultipart(request.raw, {
      signal,
      onFile: async ({ name, filename, contentType, body }) => {
        if (name !== "file") throw fault("extra_forbidden", "Unknown field", { loc: ["body", name] });
        if (stored) throw fault("extra_forbidden", "The field was given twice", { loc: ["body", "file"] });
        stored = await storeUpload(deps.files, {
          ownerId: userId,
          body: body instanceof Readable ? body : Readable.from([body]),
          filename,
          declaredType: contentType,
          base: request.baseUrl,
          signal,
        });
      },
    });
    if (form.kind === "form") {
      const text = form.entries.find((entry) => "value" in entry);
      if (text && text.name !== "file") throw fault("extra_forbidden", "Unknown field", { loc: ["body", text.name] });
    }
    if (!stored) throw fault("missing", "Field required", { loc: ["body", "file"] });
    return stored;
  });
}
