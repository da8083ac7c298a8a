import { wrongArguments } from "../frame/failure.ts";

const usualNames = ["message", "question", "prompt", "task", "text", "input", "query"];

interface Property {
  type?: string | readonly string[];
}

/** The field of an agent's input that takes a message: one with a usual name, or the only text that is required. */
export function messageField(schema: unknown): string {
  const { properties, required } = Object(schema) as { properties?: Record<string, Property>; required?: string[] };
  if (!properties || Object.keys(properties).length === 0) return "message";
  const texts = Object.entries(properties)
    .filter(([, { type }]) => type === undefined || [type].flat().includes("string"))
    .map(([name]) => name);
  const needed = (required ?? []).filter((name) => texts.includes(name));
  const field =
    needed.length === 1 ? needed[0] : (usualNames.find((name) => texts.includes(name)) ?? needed[0] ?? texts[0]);
  const others = (required ?? []).filter((name) => name !== field);
  if (field !== undefined && others.length === 0) return field;
  throw wrongArguments("This agent needs more than a message. Start it with gantry agents run.");
}
