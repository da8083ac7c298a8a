import { isRecord } from "../../../ui/json.rules.ts";

/** An input field that the goal names, with the type that its use suggests. */
export interface GoalField {
  name: string;
  type: "string" | "array" | "object";
  /** False if the goal works without it: it has a section for the case that it is given. */
  isNeeded: boolean;
}

/** One `{{…}}`, also with three braces or whitespace control. Comments may contain braces. */
const mustache = /\{\{\{?~?(!--[\s\S]*?--|[^{}]*)~?\}?\}\}/g;
const name = /^(?:@root[./]|this[./]|\.\/)?([\p{L}_$][\p{L}\p{N}_$-]*)((?:[.[/].*)?)$/u;
const words = new Set(["this", "else", "true", "false", "null", "undefined"]);

type Use = "value" | "condition" | "list" | "inside";
const sections: Readonly<Record<string, Use>> = { if: "condition", unless: "condition", each: "list", with: "inside" };

/** In order of appearance. Names inside `each` and `with` belong to the entry, unless they start at the root. */
export function goalFields(goal: string): GoalField[] {
  const found = new Map<string, Set<Use>>();
  /** Whether names in the open sections belong to an entry. */
  const open: boolean[] = [];
  const note = (text: string | undefined, use: Use) => {
    const [, field = "", path = ""] = name.exec(text ?? "") ?? [];
    if (field === "" || words.has(field) || (open.some(Boolean) && !text?.startsWith("@root"))) return;
    found.set(field, (found.get(field) ?? new Set()).add(path === "" || use === "list" ? use : "inside"));
  };
  for (const [, content = ""] of goal.matchAll(mustache)) {
    const [first = "", ...rest] = content.replace(/^&|~$/g, "").trim().split(/\s+/);
    if (first.startsWith("!") || first.startsWith(">")) continue;
    if (first.startsWith("/")) open.pop();
    else if (/^[#^]/.test(first)) {
      const helper = first.slice(1) || (rest.shift() ?? "");
      const use = sections[helper];
      note(use === undefined ? helper : rest[0], use ?? "condition");
      open.push(use !== "condition");
    } else if (first === "else" && sections[rest[0] ?? ""]) note(rest[1], "condition");
    else if (rest.length === 0) note(first, "value");
  }
  return Array.from(found, ([field, uses]) => ({
    name: field,
    type: uses.has("list") ? "array" : uses.has("inside") ? "object" : "string",
    isNeeded: uses.has("value") && !uses.has("condition"),
  }));
}

type Schema = Readonly<Record<string, unknown>>;

/** With one of these, a schema may know names that are not in its properties. */
const open = ["patternProperties", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "dependentSchemas"];

const propertiesIn = ({ properties }: Schema) => (isRecord(properties) ? properties : {});

function isKnown(schema: Schema, field: string): boolean {
  const { additionalProperties, unevaluatedProperties } = schema;
  return (
    Object.hasOwn(propertiesIn(schema), field) ||
    open.some((keyword) => keyword in schema) ||
    [additionalProperties, unevaluatedProperties].some((more) => more === true || isRecord(more))
  );
}

export const missingFields = (goal: string, schema: Schema): GoalField[] =>
  goalFields(goal).filter((field) => !isKnown(schema, field.name));

export function unusedFields(goal: string, schema: Schema): string[] {
  const used = new Set(goalFields(goal).map((field) => field.name));
  return Object.keys(propertiesIn(schema)).filter((field) => !used.has(field));
}

export function withField(schema: Schema, { name: field, type, isNeeded }: GoalField): Record<string, unknown> {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return {
    ...schema,
    properties: { ...propertiesIn(schema), [field]: { type } },
    ...(isNeeded && { required: [...required, field] }),
  };
}

export function withoutField(schema: Schema, field: string): Record<string, unknown> {
  const { [field]: _gone, ...properties } = propertiesIn(schema);
  const { required: before, ...rest } = schema;
  const required = Array.isArray(before) ? before.filter((other) => other !== field) : [];
  return { ...rest, properties, ...(required.length > 0 && { required }) };
}

/** Input fields that follow the goal while it is typed. */
export interface FollowedInputs {
  schema: Record<string, unknown>;
  /** Fields that were added for the goal. */
  added: readonly string[];
  /** Names whose field the user removed again. */
  declined: readonly string[];
}

/** Adds a field for each new placeholder, and removes an added one that the goal no longer has, unless it was edited. */
export function followGoal(before: string, after: string, { schema, added, declined }: FollowedInputs): FollowedInputs {
  const names = new Set(goalFields(after).map((field) => field.name));
  const earlier = new Set(goalFields(before).map((field) => field.name));
  const gone = added.filter((field) => !names.has(field) && isPlain(propertiesIn(schema)[field]));
  const kept = gone.reduce<Record<string, unknown>>(withoutField, { ...schema });
  const fresh = missingFields(after, kept).filter(
    (field) => !earlier.has(field.name) && !declined.includes(field.name),
  );
  return {
    schema: gone.length + fresh.length === 0 ? schema : fresh.reduce(withField, kept),
    added: [...added.filter((field) => !gone.includes(field)), ...fresh.map((field) => field.name)],
    declined,
  };
}

const isPlain = (field: unknown) => isRecord(field) && Object.keys(field).join() === "type";
