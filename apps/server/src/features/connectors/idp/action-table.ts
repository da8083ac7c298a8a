import table from "./actions.json" with { type: "json" };

export type Method = "GET" | "POST" | "PATCH" | "DELETE";
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly type: "string" | "integer" | "boolean" | "array";
  readonly description: string;
  /** Of a query parameter; a path parameter is always required. */
  readonly required?: boolean;
  /** The call carries `default` when the caller leaves it out, except with cursor paging. */
  readonly sends_default?: boolean;
  readonly [keyword: string]: unknown;
}

export interface BodySchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: boolean;
  readonly minProperties?: number;
}

/** `method` and `path` follow the specification; `upstream` is the real call if it differs. */
export interface Action {
  readonly name: string;
  readonly group: string;
  readonly method: Method;
  readonly path: string;
  readonly kind: "read" | "write";
  readonly description: string;
  /** One of them is enough for most calls. */
  readonly scopes: readonly string[];
  readonly path_params: readonly Parameter[];
  readonly query_params: readonly Parameter[];
  readonly body: BodySchema | null;
  readonly response: string;
  readonly paginated: "none" | "page" | "checkpoint";
  readonly destructive?: boolean;
  /** The vendor is ending it. */
  readonly deprecated?: boolean;
  readonly upstream?: {
    readonly method: Method;
    readonly path: string;
    /** The call does not exist: one call for each of `names` takes its place. */
    readonly emulated?: boolean;
    readonly names?: readonly string[];
    /** Names for which 403 means that the tenant lacks the feature. */
    readonly absent_when_forbidden?: readonly string[];
  };
  readonly notes?: string;
  /** Advice for a 404. */
  readonly when_not_found?: string;
  /** Field of the answer with a new secret, which cannot be read again. */
  readonly made_secret?: string;
  /** The tenant builds a draft for some seconds and refuses the call until then. */
  readonly retry_until_built?: boolean;
  /** Paths of secrets in answers and in sent bodies. See `mask.rules.ts`. */
  readonly redact_response?: readonly string[];
  readonly sensitive_input?: readonly string[];
}

/** All 60, in the order of the specification. */
export const actions = table as unknown as readonly Action[];

const byName = new Map(actions.map((action) => [action.name, action]));

export function findAction(name: string): Action | undefined {
  return byName.get(name);
}

export function upstreamOf(action: Action): { method: Method; path: string } {
  return action.upstream ?? { method: action.method, path: action.path };
}

/** The GET that reads what an update changes. */
export function readerOf(action: Action): Action | undefined {
  if (action.method !== "PATCH") return undefined;
  const { path } = upstreamOf(action);
  return actions.find((other) => other.method === "GET" && !isList(other) && upstreamOf(other).path === path);
}

/** The action that reads one item of a list: `/logs/{id}` for `/users/{id}/logs`. */
export function singleReaderOf(action: Action): Action | undefined {
  const last = action.path.split("/").at(-1) ?? "";
  const single = new RegExp(`(^|/)${last.replaceAll(/[^a-z-]/g, "")}/\\{[^}]+\\}$`);
  return actions.find((other) => other.method === "GET" && single.test(other.path));
}

export function isList(action: Action): boolean {
  return action.paginated !== "none" || action.upstream?.emulated === true;
}
