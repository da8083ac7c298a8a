import { type Account, account } from "./account.ts";
import { type Agents, agents } from "./agents.ts";
import { type Files, files } from "./files.ts";
import { type Models, models } from "./models.ts";
import { type Predictions, predictions } from "./predictions.ts";
import { type Runs, runs } from "./runs.ts";
import { type CallOptions, createTransport } from "./transport.ts";

export interface ClientOptions {
  /** The address of the service, e.g. http://127.0.0.1:8080 */
  url: string;
  key?: string | undefined;
  /**
   * How often a call is repeated that failed for the moment; 2 by default, 0 switches it off. Repeated is only what does
   * nothing twice: reading, what has an Idempotency-Key, and what was refused before it was accepted.
   */
  retries?: number | undefined;
  /** Instead of the platform's own: for a proxy, other time-outs, or tests. */
  fetch?: typeof fetch | undefined;
}

/** Whether the books are right: they are when nothing is listed. */
export interface BooksRecord {
  accounts: number;
  /** In dollars, over all accounts. */
  sum: number;
  discrepancies: { rule: string; subject: string; expected: number | null; found: number | null }[];
}

export interface GantryClient extends Predictions {
  isUp(options?: CallOptions): Promise<boolean>;
  isReady(options?: CallOptions): Promise<boolean>;
  me: Account["me"];
  /** For admins. */
  checkBooks(options?: CallOptions): Promise<BooksRecord>;
  files: Files;
  models: Models;
  account: Account;
  agents: Agents;
  runs: Runs;
}

export function createClient(options: ClientOptions): GantryClient {
  const transport = createTransport(options);
  const ofCaller = account(transport);

  /** Any server may answer 200: it is Gantry's word that counts. */
  async function says(word: string, path: string, { signal }: CallOptions = {}): Promise<boolean> {
    try {
      const { status } = await transport.json<{ status?: unknown }>({ method: "GET", path, signal, retries: 0 });
      return status === word;
    } catch {
      signal?.throwIfAborted();
      return false;
    }
  }

  return {
    ...predictions(transport),
    isUp: (call) => says("ok", "/healthz", call),
    isReady: (call) => says("ready", "/readyz", call),
    me: ofCaller.me,
    checkBooks: ({ signal } = {}) => transport.json({ method: "GET", path: "/api/v2/admin/ledger", signal }),
    files: files(transport),
    models: models(transport),
    account: ofCaller,
    agents: agents(transport),
    runs: runs(transport),
  };
}
