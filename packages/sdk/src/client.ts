import { type Account, account } from "./account.ts";
import { type Admin, admin } from "./admin.ts";
import { type Agents, agents } from "./agents.ts";
import { type Aliases, aliases } from "./aliases.ts";
import { type Batches, batches } from "./batches.ts";
import { type ConfirmationInbox, confirmationInbox } from "./confirmations.ts";
import { type Drives, drives } from "./drives.ts";
import { type Files, files } from "./files.ts";
import { type IdpConnector, idpConnector } from "./idp.ts";
import { type Marketplace, marketplace } from "./marketplace.ts";
import { type Models, models } from "./models.ts";
import { type PredictionHistory, predictionHistory } from "./prediction-history.ts";
import { type Predictions, predictions } from "./predictions.ts";
import { type Providers, providers } from "./providers.ts";
import { type Runs, runs } from "./runs.ts";
import { type Schedules, schedules } from "./schedules.ts";
import { type Secrets, secrets } from "./secrets.ts";
import { type Teams, teams } from "./teams.ts";
import { type Threads, threads } from "./threads.ts";
import { type ToolServers, toolServers } from "./tool-servers.ts";
import { type CallOptions, createTransport } from "./transport.ts";
import { type Triggers, triggers } from "./triggers.ts";
import { type Webhooks, webhooks } from "./webhooks.ts";

export interface ClientOptions {
  /** The URL of the service, e.g. http://127.0.0.1:8080. Throws a TypeError if it is missing. */
  url: string | undefined;
  key?: string | undefined;
  /** The team to act for, of which the owner of the key is a member. Calls of `teams` are always the owner's own. */
  team?: string | undefined;
  /**
   * Retries after temporary failures; 2 by default, 0 disables them. Only safe calls are retried: reads, calls with an
   * Idempotency-Key, and calls refused before they were accepted.
   */
  retries?: number | undefined;
  /** Replaces the platform's fetch: for a proxy, other timeouts (which also limit `predict`), or tests. */
  fetch?: typeof fetch | undefined;
}

export interface GantryClient extends Predictions {
  isUp(options?: CallOptions): Promise<boolean>;
  isReady(options?: CallOptions): Promise<boolean>;
  me: Account["me"];
  /** Figures over time, for charts. */
  series: Account["series"];
  /** Only for admins. */
  checkBooks: Admin["checkBooks"];
  predictions: PredictionHistory;
  batches: Batches;
  files: Files;
  models: Models;
  providers: Providers;
  aliases: Aliases;
  account: Account;
  agents: Agents;
  runs: Runs;
  threads: Threads;
  confirmations: ConfirmationInbox;
  schedules: Schedules;
  marketplace: Marketplace;
  drives: Drives;
  teams: Teams;
  toolServers: ToolServers;
  triggers: Triggers;
  idp: IdpConnector;
  secrets: Secrets;
  webhooks: Webhooks;
  admin: Admin;
}

export function createClient(options: ClientOptions): GantryClient {
  // Plain JavaScript has no type check.
  if (typeof options !== "object" || options === null) {
    throw new TypeError('createClient needs an object: { url: "https://…", key: "…" }');
  }
  const { team } = options;
  const transport = createTransport(options);
  // Health checks need no key, and must work with an invalid one.
  const keyless = createTransport({ ...options, key: undefined, team: undefined });
  const ofCaller = account(transport);
  const ofAdmins = admin(transport);

  /** Any server may answer 200, so the body decides. */
  async function says(word: string, path: string, { signal }: CallOptions = {}): Promise<boolean> {
    try {
      const { status } = await keyless.json<{ status?: unknown }>({ method: "GET", path, signal, retries: 0 });
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
    series: ofCaller.series,
    checkBooks: ofAdmins.checkBooks,
    predictions: predictionHistory(transport),
    batches: batches(transport),
    files: files(transport),
    models: models(transport),
    providers: providers(transport),
    aliases: aliases(transport),
    account: ofCaller,
    agents: agents(transport),
    runs: runs(transport),
    threads: threads(transport),
    confirmations: confirmationInbox(transport),
    schedules: schedules(transport),
    marketplace: marketplace(transport),
    drives: drives(transport),
    teams: teams(team === undefined ? transport : createTransport({ ...options, team: undefined })),
    toolServers: toolServers(transport),
    triggers: triggers(transport),
    idp: idpConnector(transport),
    secrets: secrets(transport),
    webhooks: webhooks(transport),
    admin: ofAdmins,
  };
}
