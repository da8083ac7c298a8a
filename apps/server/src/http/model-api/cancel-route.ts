import { isId } from "@gantry/wire";
import { modelOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { scopeOf } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { jsonParserOf } from "../foundation/parse-json.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute } from "../foundation/route.ts";
import { readMultipart } from "../multipart/index.ts";
import { type ModelApiDeps, readsBody } from "./deps.ts";

const names = ["prediction_id", "infer_id"] as const;
const maxJsonBytes = 65_536;

/** POST and PATCH; the id as `prediction_id` or `infer_id`, in the query, a multipart form or a JSON body. */
export function cancelRoute(app: FastifyInstance, deps: ModelApiDeps): void {
  rawRoute(app, [modelOperations.cancel, modelOperations.cancelByPatch], readsBody, async (request) => {
    const caller = await callerOf(request);
    const { owner, model } = request.params;
    const addressOf = (id: string) => ({ ...scopeOf(caller), id, modelName: `${owner}/${model}` });
    let presented: Promise<string> | undefined;
    const presentedOnce = () => {
      presented ??= presentedId(app, request);
      return presented;
    };
    await deps.models.resolveForRun(caller, owner, model, async () => {
      const id = await presentedOnce().catch(() => "");
      return isId("prediction", id) && deps.predictions.isOwn(addressOf(id));
    });
    const id = await presentedOnce();
    if (!isId("prediction", id)) throw fault("not_found", "Prediction not found");
    return { prediction_id: id, status: await deps.predictions.cancel(addressOf(id)) };
  });
}

async function presentedId(app: FastifyInstance, request: FastifyRequest): Promise<string> {
  const found = idAmong("query", request.query as Record<string, unknown>);
  const id = found ?? idAmong("body", await bodyFields(app, request));
  if (id === undefined) throw fault("missing", "Field required", { loc: ["body", "prediction_id"] });
  return id;
}

/** Null and an empty text do not count. A query parameter given twice arrives as a list. */
function idAmong(place: "query" | "body", fields: Record<string, unknown>): string | undefined {
  const name = names.find((one) => fields[one] !== undefined && fields[one] !== null && fields[one] !== "");
  if (name === undefined) return undefined;
  const id = fields[name];
  if (typeof id !== "string") throw fault("string_type", "Must be a single value", { loc: [place, name] });
  return id;
}

async function bodyFields(app: FastifyInstance, request: FastifyRequest): Promise<Record<string, unknown>> {
  const { raw } = request;
  if (raw.headers["content-type"]?.toLowerCase().startsWith("application/json")) return readJson(app, request);
  // Ignores other fields and files: the schema lists the whole input as this body.
  const form = await readMultipart(raw, { onFile: async () => undefined });
  if (form.kind !== "form") return {};
  return Object.fromEntries(form.entries.flatMap((entry) => ("value" in entry ? [[entry.name, entry.value]] : [])));
}

async function readJson(app: FastifyInstance, request: FastifyRequest): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let size = 0;
  // A body that is too large is discarded by the error handler, so that the client can read the answer.
  for await (const chunk of request.raw.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxJsonBytes) throw fault("sequence_too_long", "The body is too large");
  }
  if (size === 0) return {};
  return await new Promise((resolve, reject) =>
    jsonParserOf(app)(request, Buffer.concat(chunks), (error, body) => (error ? reject(error) : resolve(Object(body)))),
  );
}
