import { fault } from "../../kernel/errors.ts";
import type { Rendering } from "./evaluate.ts";
import { readTemplate } from "./read-template.ts";

export function fill(template: unknown, rendering: Rendering): unknown {
  if (typeof template === "string") return filledText(template, rendering);
  if (Array.isArray(template)) return template.map((entry) => fill(entry, rendering) ?? null);
  if (typeof template !== "object" || template === null) return template;
  const entries = Object.entries(template).map(([name, value]) => [name, fill(value, rendering)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function filledText(source: string, rendering: Rendering): unknown {
  const { program, faults } = readTemplate(source);
  const [first] = faults;
  if (first !== undefined)
    throw fault("value_error", `A template cannot be used. ${first}`, { loc: ["body", "input"] });
  return rendering.value(program);
}
