import type { IncomingMessage } from "node:http";
import { isId } from "@gantry/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { fault } from "../../kernel/errors.ts";
import { readMultipart } from "../multipart/index.ts";
import { type OfModel, type RouteDeps, readsBody } from "./deps.ts";

const names = ["prediction_id", "infer_id"] as const;
const maxJsonBytes = 65_536;

/** POST and PATCH; the id as `prediction_id` or `infer_id`, in the query, a multipart form or a JSON body. */
export function cancelRoute(app: FastifyInstance, deps: RouteDeps): void {
  app.route<OfModel>({
    method: ["POST", "PATCH"],
    url: "/api/v1/:owner/:model/predict/cancel",
    ...readsBody,
    handler: async (request) => {
      const caller = await deps.callerOf(request);
      const model = await deps.models.resolveForRead(caller, request.params.owner, request.params.model);
      const id = await presentedId(request);
      if (!isId("prediction", id)) throw fault("not_found", "Prediction not found");
      const status = await deps.predictions.cancel({ id, userId: caller.userId, modelName: model.endpointId });
      return { prediction_id: id, status };
    },
  });
}

async function presentedId(request: FastifyRequest): Promise<string> {
  const found = idAmong(request.query as Record<string, unknown>) ?? idAmong(await bodyFields(request.raw));
  if (found === undefined) throw fault("missing", "Field required", { loc: ["body", "prediction_id"] });
  return found;
}

function idAmong(fields: Record<string, unknown>): string | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

async function bodyFields(raw: IncomingMessage): Promise<Record<string, unknown>> {
  if (raw.headers["content-type"]?.toLowerCase().startsWith("application/json")) return readJson(raw);
  // Other fields are ignored, files too: the schema lists the whole input as this body.
  const form = await readMultipart(raw, { onFile: async () => undefined });
  if (form.kind !== "form") return {};
  return Object.fromEntries(form.entries.flatMap((entry) => ("value" in entry ? [[entry.name, entry.value]] : [])));
}

async function readJson(raw: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  // What is too large is left by the error's way, which lets the client read the answer.
  for await (const chunk of raw.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.length > maxJsonBytes) throw fault("sequence_too_long", "The body is too large");
  }
  try {
    return Object(JSON.parse(text === "" ? "{}" : text));
  } catch (error) {
    throw fault("json_invalid", "The body is not valid JSON", { cause: error });
  }
}
