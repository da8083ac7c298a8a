import { GantryError } from "@gantry/sdk";

/** Whether the request may have succeeded although no answer arrived. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof GantryError)) return true;
  // The server answers 503 before it accepts any work.
  return error.type === "connection_error" || (error.status >= 500 && error.status !== 503);
}

export interface Attempts {
  /** Equal `content` means the same request. */
  send<Answer>(content: unknown, go: (idempotencyKey: string) => Promise<Answer>): Promise<Answer>;
}

/**
 * Adds an Idempotency-Key to requests that cost money. A request that got no answer keeps its key when it is sent again
 * with the same content. Other content, or any answer, starts a new key.
 */
export function createAttempts(newKey: () => string = randomKey): Attempts {
  let unanswered: { content: string; key: string } | undefined;
  return {
    async send(sent, go) {
      const content = JSON.stringify(sent, withFiles) ?? "";
      const attempt = unanswered?.content === content ? unanswered : { content, key: newKey() };
      unanswered = undefined;
      try {
        return await go(attempt.key);
      } catch (error) {
        if (isUnanswered(error)) unanswered = attempt;
        throw error;
      }
    },
  };
}

/** JSON.stringify turns a file into {}. */
function withFiles(_name: string, value: unknown): unknown {
  if (!(value instanceof File)) return value;
  const { name, size, type, lastModified } = value;
  return { name, size, type, lastModified };
}

/** crypto.randomUUID exists only on HTTPS pages. */
const randomKey = (): string => crypto.getRandomValues(new BigUint64Array(2)).join("-");
