import { Readable } from "node:stream";
import { modelOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import type { PresignedUrl } from "../../features/files/index.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute, route } from "../foundation/route.ts";
import { readMultipart } from "../multipart/index.ts";
import { type ModelApiDeps, type OfModel, readsBody } from "./deps.ts";

/** Headers and boundaries of a form. */
const formOverheadBytes = 65_536;

/** Storage links, and uploads in one call. The model in the path only decides whether the caller has access. */
export function storageRoutes(app: FastifyInstance, deps: ModelApiDeps): void {
  const requireAccess = (caller: Caller, { owner, model }: OfModel["Params"]) =>
    deps.models.resolveForRead(caller, owner, model);

  // HEAD would create a link and not return it.
  route(app, modelOperations.createUploadUrl, { exposeHeadRoute: false }, async ({ caller, params, request }) => {
    await requireAccess(caller, params);
    const { userId: ownerId, keyId } = caller;
    const { filename, content_type: contentType } = request.query as Record<string, unknown>;
    return deps.files.createUploadLink({ ownerId, keyId, base: request.baseUrl, filename, contentType });
  });

  route(app, modelOperations.createDownloadUrl, async ({ caller, params, request }) => {
    await requireAccess(caller, params);
    const { s3_path_to_sign: s3Path } = request.query as Record<string, unknown>;
    return deps.files.signDownload({ ...scopeOf(caller), base: request.baseUrl, s3Path });
  });

  rawRoute(app, [modelOperations.uploadFile], readsBody, async (request, reply) => {
    const caller = await callerOf(request);
    await requireAccess(caller, request.params);
    const { userId, keyId } = caller;
    refuseTooLong(request, deps.files.maxUploadBytes);
    await deps.files.refuseBeyondQuota(userId, Number(request.headers["content-length"] ?? 0) - formOverheadBytes);
    const signal = clientPresence(reply);
    let stored: PresignedUrl | undefined;
    try {
      const form = await readMultipart(request.raw, {
        signal,
        onFile: async ({ name, filename, contentType, body }) => {
          if (name !== "file") throw unknownField(name);
          if (stored) throw fault("extra_forbidden", "The field was given twice", { loc: ["body", "file"] });
          stored = await deps.files.storeUpload({
            ownerId: userId,
            keyId,
            body: body instanceof Readable ? body : Readable.from([body]),
            ownsChunks: true,
            filename,
            declaredType: contentType,
            base: request.baseUrl,
            signal,
          });
        },
      });
      if (form.kind === "not-multipart") throw missingFile(form.ctx);
      const text = form.entries.find((entry) => "value" in entry);
      if (text && text.name !== "file") throw unknownField(text.name);
    } catch (error) {
      // The part after the file was invalid or incomplete.
      const s3Path = stored?.file_input?.s3_path;
      if (s3Path !== undefined) await deps.files.withdrawUpload({ ownerId: userId, s3Path: String(s3Path) });
      throw error;
    }
    if (!stored) throw missingFile();
    return stored;
  });
}

/** A body that is too large by its Content-Length is refused before a byte is stored. */
function refuseTooLong(request: FastifyRequest, maxBytes: number): void {
  if (Number(request.headers["content-length"] ?? 0) <= maxBytes + formOverheadBytes) return;
  const options = { loc: ["body", "file"], ctx: { max_size: maxBytes } };
  throw fault("file_too_large", `The file is larger than ${maxBytes} bytes`, options);
}

function missingFile(ctx?: Record<string, unknown>): Fault {
  return fault("missing", "Field required", { loc: ["body", "file"], ...(ctx && { ctx }) });
}

function unknownField(name: string): Fault {
  const msg = "Unknown field. Send the upload in the field file.";
  return fault("extra_forbidden", msg, { loc: ["body", name], ctx: { expected: ["file"] } });
}
