import { doorOperations } from "@gantry/wire/operations";
import type { FastifyRequest } from "fastify";
import { fault } from "../../kernel/errors.ts";
import type { DoorRoutes } from "../doors/doors.ts";
import { route } from "../foundation/route.ts";
import { findCallable, type ListedModel, listCallable } from "./listed-models.ts";

/** The list of models, in the shape of the client's protocol. */
export const modelsRoute: DoorRoutes = (app, deps) => {
  route(app, doorOperations.listCompatibleModels, async ({ caller, request }) => {
    const all = await listCallable(deps, caller);
    return isOfAnthropic(request)
      ? anthropicPage(all, request.query as Record<string, unknown>)
      : { object: "list", data: all.map(openaiModel) };
  });

  route(app, doorOperations.readCompatibleModel, async ({ caller, params, request }) => {
    const listed = await findCallable(deps, caller, (params as Record<string, string>)["*"] ?? "");
    return isOfAnthropic(request) ? anthropicModel(listed) : openaiModel(listed);
  });
};

function isOfAnthropic({ headers }: FastifyRequest): boolean {
  return headers["anthropic-version"] !== undefined;
}

function openaiModel({ id, owner, createdAt, kind, contextWindow }: ListedModel) {
  return {
    id,
    object: "model",
    created: Math.floor(createdAt.getTime() / 1000),
    owned_by: owner,
    kind,
    ...(contextWindow !== undefined && { context_window: contextWindow }),
  };
}

function anthropicModel({ id, name, createdAt, contextWindow, maxOutputTokens }: ListedModel) {
  return {
    type: "model",
    id,
    display_name: name,
    created_at: createdAt.toISOString(),
    max_input_tokens: contextWindow ?? null,
    max_tokens: maxOutputTokens ?? null,
  };
}

const usualPage = 20;
const largestPage = 1000;

function anthropicPage(all: readonly ListedModel[], { limit, after_id, before_id }: Record<string, unknown>) {
  const size = limit === undefined ? usualPage : Number(limit);
  if (!Number.isInteger(size) || size < 1 || size > largestPage)
    throw fault("value_error", `limit must be a whole number between 1 and ${largestPage}.`, {
      loc: ["query", "limit"],
    });
  const after = after_id === undefined ? 0 : placeOf(all, after_id, "after_id") + 1;
  const end = before_id === undefined ? all.length : placeOf(all, before_id, "before_id");
  // Before an id means: the last ones before it.
  const start = before_id === undefined ? after : Math.max(after, end - size);
  const page = all.slice(start, Math.min(end, start + size));
  return {
    data: page.map(anthropicModel),
    has_more: before_id === undefined ? start + size < end : start > after,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function placeOf(all: readonly ListedModel[], id: unknown, name: string): number {
  const place = all.findIndex((listed) => listed.id === id);
  if (place === -1) throw fault("value_error", `${name} is not a model in this list.`, { loc: ["query", name] });
  return place;
}
