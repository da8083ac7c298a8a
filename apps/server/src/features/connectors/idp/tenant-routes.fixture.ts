/** A request as it came over the wire: the path is not decoded, the query keeps its order and repeats. */
export interface Seen {
  method: string;
  path: string;
  query: [string, string][];
  body: unknown;
  authorization: string;
  contentType: string | undefined;
}

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

type Item = Record<string, unknown>;

interface Collection {
  /** The name in the path, and of the list in an envelope. */
  envelope: string;
  id: string;
  /** The word in scopes, such as read:users. */
  scope: string;
  /** The optional machine-readable code of a 404. */
  missing?: string;
  created: number;
  deleted: number;
  items: Item[];
}

export interface TenantState {
  /** Token to scopes. */
  tokens: Map<string, readonly string[]>;
  collections: Map<string, Collection>;
  templates: Map<string, Item>;
  settings: Item;
  /** How many more deploys are refused because the draft is being built. */
  buildsLeft: number;
  secrets: number;
}

const secretive = {
  identities: [{ provider: "google", access_token: "ya29.upstream", refresh_token: "1//upstream", user_id: "7" }],
};

export function tenantState(): TenantState {
  const collection = (path: string, made: Partial<Collection> & { items: Item[] }): [string, Collection] => {
    const word = path.split("/").at(-1) ?? path;
    const base = {
      envelope: word.replace("-", "_"),
      id: "id",
      scope: word.replace("-", "_"),
      created: 201,
      deleted: 204,
    };
    return [path, { ...base, ...made }];
  };
  return {
    tokens: new Map(),
    collections: new Map([
      collection("users", {
        id: "user_id",
        missing: "inexistent_user",
        items: [
          { user_id: "auth0|ann", email: "ann@example.com", name: "Ann", ...secretive },
          { user_id: "auth0|a/b c", email: "odd@example.com", name: "Odd" },
          { user_id: "google-oauth2|žluť", email: "zlut@example.com", name: "Žluť" },
        ],
      }),
      collection("roles", {
        created: 200,
        deleted: 200,
        items: [{ id: "rol_1", name: "editor", description: "Edits" }],
      }),
      collection("clients", {
        id: "client_id",
        missing: "inexistent_client",
        items: [
          {
            client_id: "cli_1",
            name: "Shop",
            description: "Old",
            client_secret: "shop-secret-value-1234",
            signing_keys: [{ cert: "-----CERT-----", pkcs7: "-----PKCS7-----", subject: "/CN=shop" }],
            custom_login_page: "<p>login</p>".repeat(200),
            refresh_token: { rotation_type: "rotating" },
          },
        ],
      }),
      collection("connections", {
        missing: "inexistent_connection",
        deleted: 202,
        items: [
          {
            id: "con_1",
            name: "google",
            strategy: "google-oauth2",
            options: {
              client_id: "g",
              client_secret: "goog-secret",
              configuration: { API_KEY: "conf-secret" },
              password: null,
            },
          },
        ],
      }),
      collection("resource-servers", {
        missing: "inexistent_resource_server",
        items: [{ id: "api_1", identifier: "https://api.example.com/v1", name: "API", signing_secret: "sign-secret" }],
      }),
      collection("grants", {
        items: [{ id: "cgr_1", clientID: "cli_1", user_id: "auth0|ann", audience: "x", scope: [] }],
      }),
      collection("logs", {
        id: "log_id",
        items: [{ log_id: "log_1", type: "s", details: { request: { body: { password: "typed", token: "t0k" } } } }],
      }),
      collection("rules", { items: [{ id: "rul_1", name: "old", script: "function (u, c, cb) {}", enabled: true }] }),
      collection("actions/actions", {
        items: [{ id: "act_1", name: "enrich", code: "x".repeat(3000), status: "built" }],
      }),
      collection("organizations", { items: [{ id: "org_1", name: "acme", display_name: "Acme" }] }),
    ]),
    templates: new Map([
      ["welcome_email", { template: "welcome_email", subject: "Hello", body: "<b>hi</b>", enabled: true }],
      ["reset_email", { template: "reset_email", subject: "Reset", body: "<b>reset</b>", enabled: false }],
    ]),
    settings: { friendly_name: "Example", session_lifetime: 168, flags: { a: true } },
    buildsLeft: 0,
    secrets: 0,
  };
}

const names: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
};

export function refusal(status: number, message: string, errorCode?: string): Answer {
  return {
    status,
    body: { statusCode: status, error: names[status] ?? "Error", message, ...(errorCode && { errorCode }) },
  };
}

const verbs: Record<string, string> = { GET: "read", POST: "create", PATCH: "update", DELETE: "delete" };

export function answerAsTenant(state: TenantState, seen: Seen): Answer {
  const scopes = state.tokens.get(seen.authorization.replace(/^Bearer /, ""));
  if (!scopes) return refusal(401, "Invalid token", "invalid_token");
  const needs = (...anyOf: string[]): Answer | undefined =>
    anyOf.some((scope) => scopes.includes(scope))
      ? undefined
      : refusal(403, `Insufficient scope, expected any of: ${anyOf.join(",")}`, "insufficient_scope");
  if (!seen.path.startsWith("/api/v2/")) return { status: 404, body: "<h1>Not found</h1>" };
  const path = seen.path.slice("/api/v2/".length);
  const verb = verbs[seen.method] ?? "none";

  if (path === "tenants/settings") {
    const refused = needs(`${verb}:tenant_settings`);
    if (refused) return refused;
    if (seen.method === "PATCH") Object.assign(state.settings, seen.body);
    return { status: 200, body: state.settings };
  }
  if (path === "email-templates" || path.startsWith("email-templates/")) {
    return needs(`${verb}:email_templates`) ?? templates(state, seen, path.split("/")[1]);
  }
  for (const [name, collection] of state.collections) {
    if (path !== name && !path.startsWith(`${name}/`)) continue;
    const [id, part] = path.slice(name.length + 1).split("/");
    if (part !== undefined) return subResource(state, seen, `${name}/${part}`, needs);
    return needs(`${verb}:${collection.scope}`) ?? plain(collection, seen, id ? decodeURIComponent(id) : undefined);
  }
  return refusal(404, "Not Found");
}

function plain(collection: Collection, seen: Seen, id: string | undefined): Answer {
  const { items } = collection;
  if (id === undefined) {
    if (seen.method === "GET") return page(collection, new Map(seen.query));
    if (seen.method !== "POST") return refusal(404, "Not Found");
    const made = { [collection.id]: `new_${items.length}`, ...(seen.body as Item) };
    if (items.some((item) => item.name !== undefined && item.name === made.name)) {
      return refusal(409, "It already exists.");
    }
    items.push(made);
    return { status: collection.created, body: made };
  }
  const index = items.findIndex((item) => item[collection.id] === id || item.identifier === id);
  const found = items[index];
  if (!found) return refusal(404, "It does not exist.", collection.missing);
  if (seen.method === "DELETE") {
    items.splice(index, 1);
    return { status: collection.deleted, ...(collection.deleted === 202 && { body: { deleted_at: "2026-01-01" } }) };
  }
  if (seen.method === "PATCH") Object.assign(found, seen.body);
  return { status: 200, body: found };
}

/** Bare arrays, envelopes when totals are asked for, cursors; actions always have an envelope of their own. */
function page({ items, envelope }: Collection, query: Map<string, string>): Answer {
  if (query.has("take") || query.has("from")) {
    const start = Number(query.get("from") ?? 0);
    const end = start + Number(query.get("take") ?? 50);
    const next = end < items.length ? { next: String(end) } : {};
    return { status: 200, body: { [envelope]: items.slice(start, end), ...next } };
  }
  const size = Number(query.get("per_page") ?? 50);
  const number = Number(query.get("page") ?? 0);
  const shown = items.slice(number * size, (number + 1) * size);
  if (envelope === "actions") {
    return { status: 200, body: { actions: shown, total: items.length, page: number, per_page: size } };
  }
  if (query.get("include_totals") !== "true") return { status: 200, body: shown };
  return { status: 200, body: { start: number * size, limit: size, total: items.length, [envelope]: shown } };
}

function subResource(
  state: TenantState,
  seen: Seen,
  what: string,
  needs: (...anyOf: string[]) => Answer | undefined,
): Answer {
  const list = (envelope: string, items: Item[]) =>
    page({ envelope, items, id: "id", scope: "", created: 0, deleted: 0 }, new Map(seen.query));
  const itemsOf = (name: string) => state.collections.get(name)?.items ?? [];
  switch (`${seen.method} ${what}`) {
    case "GET users/roles":
      return needs("read:users", "read:roles", "read:role_members") ?? list("roles", itemsOf("roles"));
    case "GET users/logs":
      return needs("read:logs", "read:logs_users") ?? list("logs", itemsOf("logs"));
    case "GET users/permissions":
      return needs("read:users") ?? list("permissions", [{ permission_name: "read:x" }]);
    case "POST users/roles":
      return needs("update:users", "create:role_members") ?? withList(seen, "roles", 204);
    case "DELETE users/roles":
      return needs("update:users", "delete:role_members") ?? withList(seen, "roles", 204);
    case "GET roles/permissions":
      return needs("read:roles") ?? list("permissions", [{ permission_name: "read:x" }]);
    case "POST roles/permissions":
      return needs("update:roles") ?? withList(seen, "permissions", 201);
    case "DELETE roles/permissions":
      return needs("update:roles") ?? withList(seen, "permissions", 204);
    case "POST clients/rotate-secret": {
      const refused = needs("update:client_keys");
      return (
        refused ?? {
          status: 200,
          body: { client_id: "cli_1", client_secret: `fresh-secret-${1000 + state.secrets++}` },
        }
      );
    }
    case "POST actions/actions/deploy": {
      const refused = needs("create:actions", "update:actions");
      if (refused) return refused;
      if (state.buildsLeft-- > 0) return refusal(400, "A draft must be in the 'built' state to be deployed");
      return { status: 202, body: { id: "ver_1", number: 1, deployed: true } };
    }
    default:
      return refusal(404, "Not Found");
  }
}

/** These take their list in the body, also on DELETE. */
function withList(seen: Seen, field: string, status: number): Answer {
  const list = (seen.body as Item | undefined)?.[field];
  if (Array.isArray(list) && list.length > 0) return { status };
  return refusal(400, `Payload validation error: 'Missing required property: ${field}'.`, "invalid_body");
}

function templates(state: TenantState, seen: Seen, name: string | undefined): Answer {
  if (name === undefined) {
    if (seen.method !== "POST") return refusal(404, "Not Found");
    const made = seen.body as Item;
    if (state.templates.has(String(made.template))) return refusal(409, "The template already exists.");
    state.templates.set(String(made.template), made);
    return { status: 200, body: made };
  }
  if (name === "async_approval")
    return refusal(403, "The feature is not enabled for this tenant.", "feature_not_enabled");
  const found = state.templates.get(name);
  if (!found) return refusal(404, "The template does not exist.", "inexistent_email_template");
  if (seen.method === "PATCH") Object.assign(found, seen.body);
  return { status: 200, body: found };
}
