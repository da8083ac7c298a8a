import { fault } from "../../../kernel/errors.ts";
import { type Action, type Method, upstreamOf } from "./action-table.ts";

/** `path` is relative to the API's base, encoded, with the query. */
export interface TenantRequest {
  method: Method;
  path: string;
  body?: Readonly<Record<string, unknown>>;
}

const longestPath = 4096;

/** Builds the real call from flat, checked arguments. */
export function buildRequest(action: Action, given: Readonly<Record<string, unknown>>): TenantRequest {
  const { method, path } = upstreamOf(action);
  // Upstream uses other placeholder names in the same order.
  const values = action.path_params.map(({ name }) => encodeURIComponent(String(given[name])));
  let next = 0;
  const filled = path.replaceAll(/\{[^}]+\}/g, () => values[next++] ?? "");
  const query = queryOf(action, given);
  const whole = query === "" ? filled : `${filled}?${query}`;
  if (whole.length > longestPath) {
    throw fault("string_too_long", "The path and query values together are too long", {
      loc: ["body", "arguments"],
      ctx: { max_length: longestPath },
    });
  }
  return { method, path: whole, ...(action.body && { body: bodyOf(action, given) }) };
}

function queryOf(action: Action, given: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  // Cursor paging has no pages and no totals.
  const byCursor = given.from !== undefined || given.take !== undefined;
  for (const parameter of action.query_params) {
    const { name } = parameter;
    const value = given[name] ?? (parameter.sends_default && !byCursor ? parameter.default : undefined);
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  return query.toString();
}

function bodyOf(action: Action, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const elsewhere = new Set([...action.path_params, ...action.query_params].map(({ name }) => name));
  return Object.fromEntries(Object.entries(given).filter(([name]) => !elsewhere.has(name)));
}
