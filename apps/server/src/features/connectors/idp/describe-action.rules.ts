import type { ToolRecord } from "@gantry/wire";
import { type Action, type JsonSchema, type Parameter, upstreamOf } from "./action-table.ts";

export type ToolInfo = ToolRecord;

/** With both calls if the real API differs from the specification. */
export function describeAction(action: Action): string {
  return [
    action.description,
    action.notes ?? "",
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

/** Path, query and body fields in one JSON Schema object. */
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
    // An update needs at least one field besides its path values.
    ...(least !== undefined && { minProperties: least + action.path_params.length }),
  };
}

function fieldOf({ name: _name, required: _required, sends_default: _sent, ...schema }: Parameter): JsonSchema {
  return schema;
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
