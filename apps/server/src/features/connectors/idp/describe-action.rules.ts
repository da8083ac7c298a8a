import type { ToolRecord } from "@gantry/wire";
import { type Action, isDeprecated, type JsonSchema, type Parameter, upstreamOf } from "./action-table.ts";

/** What a page holds when the caller does not say: enough to look at, little enough for a model to read. */
export const defaultPageSize = 25;

/** An action as an agent's tool. */
export type ToolInfo = ToolRecord;

const shownOnce =
  "The secret is shown once, to the person who asked for it; a model sees its last four characters at most.";

/** Where the table's notes speak to the builder, this is what a reader needs instead. An empty text says nothing more. */
const notesForReaders: Readonly<Record<string, string>> = {
  idp_client_create: `${shownOnce} Later only idp_client_rotate_secret gives a new one.`,
  idp_client_rotate_secret: shownOnce,
  idp_action_deploy:
    "The specification says that this binds the action to a flow; the real call only publishes a version. Binding is done upstream with PATCH /actions/triggers/{triggerId}/bindings; an action that is bound already runs its new version at once. While the draft is still being built the call is repeated every two seconds. Scope: create:actions, on some tenants update:actions.",
  idp_tenant_settings_update: "Takes effect for every application at once.",
  idp_email_templates_list: "Names that were never customised are left out.",
  idp_email_template_create: "An email provider must be set up on the tenant first.",
};

const rulesNote =
  "Deprecated: rules end on 2026-11-18 and are refused by tenants created since 2023-10-16; use the idp_action_… actions instead.";

/** What the action does, what it answers, and, where the real API differs from the specification, both calls. */
export function describeAction(action: Action): string {
  const notes = isDeprecated(action) ? rulesNote : (notesForReaders[action.name] ?? action.notes ?? "");
  return [
    action.description,
    notes,
    differenceOf(action),
    `Answer: ${withStop(action.response)}`,
    action.destructive ? "Cannot be undone." : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

function differenceOf(action: Action): string {
  const { method, path } = upstreamOf(action);
  if (method === action.method && path === action.path) return "";
  const specified = `Specified as ${action.method} ${action.path}`;
  if (action.upstream?.emulated) {
    return `${specified}, which the tenant's API does not have: ${method} ${path} is called for each known name.`;
  }
  return `${specified}; the tenant's API is called as ${method} ${path}.`;
}

/** Path, query and body fields side by side, as one JSON Schema object. */
export function parametersOf(action: Action): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const parameter of action.path_params) properties[parameter.name] = { ...fieldOf(parameter), minLength: 1 };
  for (const parameter of action.query_params) properties[parameter.name] = fieldOf(parameter);
  Object.assign(properties, action.body?.properties);
  const required = [
    ...action.path_params.map(({ name }) => name),
    ...action.query_params.filter((parameter) => parameter.required).map(({ name }) => name),
    ...(action.body?.required ?? []),
  ];
  const least = action.body?.minProperties;
  return {
    type: "object",
    properties,
    required,
    additionalProperties: action.body?.additionalProperties ?? false,
    // Path values are always there; an update without a field to change is none.
    ...(least !== undefined && { minProperties: least + action.path_params.length }),
  };
}

function fieldOf({ name, required: _ours, ...schema }: Parameter): JsonSchema {
  if (name === "per_page") {
    const description = `How many items a page holds, ${defaultPageSize} when left out, at most 100.`;
    return { ...schema, description, default: defaultPageSize };
  }
  if (name === "include_totals") {
    const description =
      "Whether the answer says how many there are in all; true when left out, not with from and take.";
    return { ...schema, description, default: true };
  }
  // Encoding is done here; a caller who did it too would address something else.
  const description = schema.description
    .replace("; must be percent-encoded in the path", ", given as it is")
    .replace("percent-encoded audience", "audience, given as it is");
  // A larger number has no digits of its own any more, and would be sent as another one.
  const bound = schema.type === "integer" && { maximum: Number.MAX_SAFE_INTEGER };
  return { ...bound, ...schema, description };
}

export function withStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export function toolOf(action: Action): ToolInfo {
  return {
    id: action.name,
    description: describeAction(action),
    parameters: parametersOf(action),
    kind: action.kind,
  };
}
