export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? "";

export function readObject(text: string): { value: Record<string, unknown> } | { fault: string } {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { value } : { fault: "Must be a JSON object: { … }" };
  } catch (error) {
    return { fault: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
