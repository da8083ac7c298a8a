import { Readable } from "node:stream";
import type { ProtocolFileRecord } from "@gantry/wire";
import { doorOperations } from "@gantry/wire/operations";
import type { FastifyRequest } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import type { ProtocolFile, ProtocolFiles, StoredUpload } from "../../features/files/index.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import { contentHeaders } from "../blob-api/disposition.rules.ts";
import type { DoorDeps } from "../doors/deps.ts";
import type { DoorRoutes } from "../doors/doors.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute, route } from "../foundation/route.ts";
import { readMultipart } from "../multipart/index.ts";

const { uploadBatchFile, listBatchFiles, readBatchFile, deleteBatchFile, readBatchFileContent } = doorOperations;

/** Headers and boundaries of a form. */
const formOverheadBytes = 65_536;
const mostListed = 1_000;

/** Files of batches: uploaded with requests, and written with their results. */
export const filesRoutes: DoorRoutes = (app, deps) => {
  const { protocolFiles } = deps;
  rawRoute(app, [uploadBatchFile], { config: { readsBody: true } }, async (request, reply) => {
    const caller = await callerOf(request);
    return fileToWire(await receiveFile(deps, request, caller, clientPresence(reply)));
  });

  route(app, listBatchFiles, async ({ caller, query }) => {
    const { purpose, order, after } = query;
    const limit = Math.min(query.limit, mostListed);
    const range = { purpose, after, isAscending: order === "asc", limit: limit + 1 };
    return pageOf((await protocolFiles.list(scopeOf(caller), range)).map(fileToWire), limit);
  });

  route(app, readBatchFile, async ({ caller, params }) =>
    fileToWire(await protocolFiles.find(scopeOf(caller), params.file_id)),
  );

  route(app, deleteBatchFile, async ({ caller, params: { file_id: id } }) => {
    await protocolFiles.delete(scopeOf(caller), id);
    return { id, object: "file" as const, deleted: true as const };
  });

  route(app, readBatchFileContent, async ({ caller, params, request, reply }) => {
    const file = await protocolFiles.find(scopeOf(caller), params.file_id);
    const isHead = request.method === "HEAD" || file.size === 0;
    const body = isHead ? Readable.from([]) : await protocolFiles.open(file);
    if (!body) throw fault("not_found", "The content of the file no longer exists.", { loc: ["path", "file_id"] });
    reply.headers({ ...contentHeaders("application/jsonl", file.filename), "content-length": file.size });
    return reply.send(body);
  });
};

/** A page of a list with a cursor. `entries` has one more than the page if there are more. */
export function pageOf<Entry extends { id: string }>(entries: Entry[], limit: number) {
  const data = entries.slice(0, limit);
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: entries.length > limit,
  };
}

type Deps = Pick<DoorDeps, "files" | "protocolFiles">;

async function receiveFile(
  { files, protocolFiles }: Deps,
  request: FastifyRequest,
  { userId, keyId }: Caller,
  signal: AbortSignal,
): Promise<ProtocolFile> {
  const length = Number(request.headers["content-length"] ?? 0);
  refuseTooLong(protocolFiles, length);
  await files.refuseBeyondQuota(userId, length - formOverheadBytes);
  let stored: StoredUpload | undefined;
  const fields = new Map<string, unknown>();
  try {
    const form = await readMultipart(request.raw, {
      signal,
      onFile: async ({ name, filename, body }) => {
        if (name !== "file") {
          throw fault("extra_forbidden", "Send one file, in the field file.", { loc: ["body", name] });
        }
        if (stored) throw fault("extra_forbidden", "The field was given twice", { loc: ["body", "file"] });
        stored = await protocolFiles.store({
          ownerId: userId,
          keyId,
          body: body instanceof Readable ? body : Readable.from([body]),
          ownsChunks: true,
          filename,
          declaredType: undefined,
          signal,
        });
      },
    });
    if (form.kind === "not-multipart") throw missing("file", form.ctx);
    for (const entry of form.entries) if ("value" in entry) fields.set(entry.name, entry.value);
    if (!stored) throw missing("file");
    checkFields(fields);
    return await protocolFiles.use(stored, "batch");
  } catch (error) {
    if (stored) await protocolFiles.withdraw(stored);
    throw error;
  }
}

function checkFields(fields: ReadonlyMap<string, unknown>): void {
  const purpose = fields.get("purpose");
  if (purpose === undefined) throw missing("purpose");
  if (purpose !== "batch") {
    throw fault("one_of", "Only files with purpose batch are accepted here. Other files belong to /api/v2/files.", {
      loc: ["body", "purpose"],
      ctx: { expected: ["batch"] },
    });
  }
  const expiry = [...fields.keys()].find((name) => /^expires_after\b/.test(name));
  if (expiry !== undefined) throw neverExpires(expiry);
}

function refuseTooLong({ maxBytes }: Pick<ProtocolFiles, "maxBytes">, length: number): void {
  if (length <= maxBytes + formOverheadBytes) return;
  const options = { loc: ["body", "file"], ctx: { max_size: maxBytes } };
  throw fault("file_too_large", `The file is larger than ${maxBytes} bytes.`, options);
}

function missing(name: string, ctx?: Record<string, unknown>): Fault {
  return fault("missing", "Field required", { loc: ["body", name], ...(ctx && { ctx }) });
}

/** Ignoring the field would keep a file for longer than its owner wants. */
export function neverExpires(name: string): Fault {
  const msg = `Files do not expire after a chosen time. Leave out ${name}, and delete the file when you do not need it.`;
  return fault("extra_forbidden", msg, { loc: ["body", name] });
}

function fileToWire({ id, size, createdAt, filename, purpose }: ProtocolFile): ProtocolFileRecord {
  const created = Math.floor(createdAt.getTime() / 1000);
  return { id, object: "file", bytes: size, created_at: created, filename, purpose, status: "processed" };
}
