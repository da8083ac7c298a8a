import type { ProviderType, UpstreamModel } from "@gantry/wire";
import { isRecord } from "../../../kernel/is-record.ts";
import type { Net } from "../../net/net.ts";
import { backendFor } from "./backend-for.ts";
import { labelOf, type ProviderConnection } from "./connection.ts";
import { kindByName } from "./kind-by-name.rules.ts";
import { ProviderFailure } from "./provider-failure.ts";
import { providerRows } from "./provider-rows.ts";
import { createUpstreamCalls, type UpstreamCalls } from "./upstream-calls.ts";

export interface ProviderTestResult {
  ok: boolean;
  /** What was seen, or what is wrong and what to do. */
  message: string;
  latencyMs: number;
}

/** A self-hosted server may have to load a model first. */
const usualTimeoutMs = 30_000;

/**
 * Makes the cheapest call that shows whether the address and the key are right. With a model, or where no other call needs
 * the key, that is a call of a model with one token of output. Rejects only with the signal's reason.
 */
export async function testProvider(
  net: Net,
  connection: ProviderConnection,
  options: { model?: string | undefined; signal: AbortSignal; timeoutMs?: number },
): Promise<ProviderTestResult> {
  const { model, signal, timeoutMs = usualTimeoutMs } = options;
  const startedAt = performance.now();
  const ended = (ok: boolean, message: string) => ({
    ok,
    message,
    latencyMs: Math.round(performance.now() - startedAt),
  });
  try {
    const calls = createUpstreamCalls(net, connection, { signal, timeoutMs });
    return ended(
      true,
      model === undefined ? await reach(calls, connection) : await callModel(calls, connection, model),
    );
  } catch (error) {
    if (error instanceof ProviderFailure) return ended(false, error.message);
    throw error;
  }
}

async function reach(calls: UpstreamCalls, connection: ProviderConnection): Promise<string> {
  const { list, keyCheck } = providerRows[calls.type];
  const greeting = `${labelOf(calls.type)} ${calls.hasKey ? "accepted the key" : "is reachable"}`;
  if (typeof keyCheck === "object" || list === undefined) {
    if (typeof keyCheck === "object") await calls.call(keyCheck.route(calls), { query: keyCheck.query ?? {} });
    return `${greeting}.`;
  }
  const models = await list(calls);
  const [first] = models;
  if (first === undefined) throw calls.fail("no_models");
  // Without a key, a call of a model would show nothing more, and might have to load it.
  if (keyCheck === "call" && calls.hasKey) {
    return callModel(calls, connection, models.find(({ kind }) => kind === "text") ?? first);
  }
  return `${greeting} and has ${models.length === 1 ? "1 model" : `${models.length} models`}.`;
}

interface ModelRoute {
  path: (model: string) => string;
  /** Tried in order: servers differ in how they limit the output. */
  bodies: (model: string) => unknown[];
  /** The field of the answer that shows that the model answered. */
  field: string;
  as?: ProviderType;
}

const messages = [{ role: "user", content: "Hi" }];

const modelRoutes: Partial<Record<string, ModelRoute>> = {
  "openai-chat": {
    path: () => "/chat/completions",
    // Models that think refuse `max_tokens`, and some a limit of one token.
    bodies: (model) => [
      { model, messages, max_tokens: 1 },
      { model, messages, max_completion_tokens: 16 },
    ],
    field: "choices",
  },
  anthropic: {
    path: () => "/messages",
    bodies: (model) => [{ model, messages, max_tokens: 1 }],
    field: "content",
    as: "anthropic",
  },
  google: {
    path: (model) => `/models/${encodeURIComponent(model)}:generateContent`,
    bodies: () => [
      { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { maxOutputTokens: 1 } },
      { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { maxOutputTokens: 16 } },
    ],
    field: "candidates",
    as: "gemini",
  },
  "openai-embeddings": {
    path: () => "/embeddings",
    bodies: (model) => [{ model, input: "Hi" }],
    field: "data",
  },
};

async function callModel(
  calls: UpstreamCalls,
  connection: ProviderConnection,
  given: string | Pick<UpstreamModel, "id" | "kind">,
): Promise<string> {
  const model = typeof given === "string" ? { id: given, kind: kindByName(given) ?? "text" } : given;
  const { type, url = "", query = {} } = backendFor({ type: calls.type, url: connection.url }, model);
  const route = modelRoutes[type];
  if (route === undefined) return findModel(calls, model.id);
  // Azure takes the key of its older form in a header of its own.
  const as = route.as ?? (calls.type === "azure-deployments" ? calls.type : "openai");
  const options = { query, as, model: model.id };
  for (const [n, body] of route.bodies(model.id).entries()) {
    try {
      const { json } = await calls.call(url + route.path(model.id), { ...options, body });
      if (!isRecord(json) || !Array.isArray(json[route.field])) throw calls.fail("refused", { model: model.id });
      break;
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      if (error.reason === "limit_reached") break;
      const isLast = n === route.bodies(model.id).length - 1;
      if (error.reason !== "refused" || isLast) throw error;
    }
  }
  return `${labelOf(calls.type)} answered with "${model.id}".`;
}

/** A picture is not a cheap call, so the list has to do. */
async function findModel(calls: UpstreamCalls, id: string): Promise<string> {
  const models = (await providerRows[calls.type].list?.(calls)) ?? [];
  if (!models.some((model) => model.id === id)) throw calls.fail("unknown_model", { model: id });
  return `${labelOf(calls.type)} has "${id}".`;
}
