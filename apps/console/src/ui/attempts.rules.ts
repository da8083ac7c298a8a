import { GantryError } from "@gantry/sdk";

/** Whether what was sent may have been done all the same: it was not refused, only its answer is missing. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof GantryError)) return true;
  // With 503 the service takes nothing in.
  return error.type === "connection_error" || (error.status >= 500 && error.status !== 503);
}

export interface Attempts {
  /** `content` tells apart what is sent. */
  send<Answer>(content: unknown, go: (idempotencyKey: string) => Promise<Answer>): Promise<Answer>;
}

/**
 * What costs something goes out under an Idempotency-Key. Where no answer came, the same content goes out under the
 * same key again, and is not done twice; other content, and whatever follows an answer, gets a new one.
 */
export function createAttempts(newKey: () => string = randomKey): Attempts {
  let unanswered: { said: string; key: string } | undefined;
  return {
    async send(content, go) {
      const said = JSON.stringify(content, withFiles) ?? "";
      const attempt = unanswered?.said === said ? unanswered : { said, key: newKey() };
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

/** JSON says nothing of a file. */
function withFiles(_name: string, value: unknown): unknown {
  if (!(value instanceof File)) return value;
  const { name, size, type, lastModified } = value;
  return { name, size, type, lastModified };
}

/** Not randomUUID, which browsers have on https alone. */
const randomKey = (): string => crypto.getRandomValues(new BigUint64Array(2)).join("-");
