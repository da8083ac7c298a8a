import { type Answer, type CallOptions, call } from "../../apps/server/test/proof/client.ts";
import type { Stage } from "./stage.ts";

export interface AskOptions extends CallOptions {
  /** Statuses that are right; 200 to 204 by default. */
  expect?: readonly number[];
}

const good = [200, 201, 202, 204];
/** Longer than every wait that an operation asks for. */
const patienceMs = 90_000;

/**
 * One call of a user. Its time is kept under the name of the operation. Any other status than the expected ones is a fault;
 * a lost connection or a 5xx is one unless the installation was disturbed, and a 500 always is.
 */
export async function ask(
  { installation, journal }: Stage,
  operation: string,
  method: string,
  path: string,
  { expect = good, ...options }: AskOptions = {},
): Promise<Answer | undefined> {
  const from = Date.now();
  const signal = options.signal ?? AbortSignal.timeout(patienceMs);
  const answer = await call(installation.url, method, path, { ...options, signal }).catch((error: Error) => {
    const cause = error.cause instanceof Error ? error.cause.message : error.message;
    journal.count(operation, "lost");
    if (!journal.isDisturbed(from)) journal.fault(`${operation}: lost`, `${method} ${path}: ${cause}`);
    return undefined;
  });
  if (!answer) return undefined;
  journal.count(operation, String(answer.status));
  if (expect.includes(answer.status)) {
    journal.time(operation, from);
    return answer;
  }
  const mayFail = answer.status > 500 && journal.isDisturbed(from);
  if (!mayFail) {
    const id = answer.headers.get("x-request-id");
    journal.fault(`${operation}: ${answer.status}`, `${method} ${path} (${id}): ${answer.text}`);
  }
  return undefined;
}
