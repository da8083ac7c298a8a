import { type Account, account } from "./account.ts";
import { type Admin, admin } from "./admin.ts";
import { type Agents, agents } from "./agents.ts";
import { type Drives, drives } from "./drives.ts";
import { type Files, files } from "./files.ts";
import { type IdpConnector, idpConnector } from "./idp.ts";
import { type Marketplace, marketplace } from "./marketplace.ts";
import { type Models, models } from "./models.ts";
import { type Predictions, predictions } from "./predictions.ts";
import { type Runs, runs } from "./runs.ts";
import { type Secrets, secrets } from "./secrets.ts";
import { type ToolServers, toolServers } from "./tool-servers.ts";
import { type CallOptions, createTransport } from "./transport.ts";
import { type Webhooks, webhooks } from "./webhooks.ts";

export interface ClientOptions {
  /** The address of the service, e.g. http://127.0.0.1:8080. It may come from the environment; without one a TypeError is thrown. */
  url: string | undefined;
  key?: string | undefined;
  /**
   * How often a call is repeated that failed for the moment; 2 by default, 0 switches it off. Repeated is only what does
   * nothing twice: reading, what has an Idempotency-Key, and what was refused before it was accepted.
   */
  retries?: number | undefined;
  /** Instead of the platform's own: for a proxy, other time-outs (`predict` waits no longer than they), or tests. */
  fetch?: typeof fetch | undefined;
}

export interface GantryClient extends Predictions {
  isUp(options?: CallOptions): Promise<boolean>;
  isReady(options?: CallOptions): Promise<boolean>;
  me: Account["me"];
  /** For admins. */
  checkBooks: Admin["checkBooks"];
  files: Files;
  models: Models;
  account: Account;
  agents: Agents;
  runs: Runs;
  marketplace: Marketplace;
  drives: Drives;
  toolServers: ToolServers;
  idp: IdpConnector;
  secrets: Secrets;
  webhooks: Webhooks;
  admin: Admin;
}

export function createClient(options: ClientOptions): GantryClient {
  // Without types nothing else says what is missing.
  if (typeof options !== "object" || options === null) {
    throw new TypeError('createClient wants an object with the address of the service: { url: "https://…", key: "…" }');
  }
  const transport = createTransport(options);
  // How the service is has nothing to do with who asks, nor with a key that cannot be sent.
  const keyless = createTransport({ ...options, key: undefined });
  const ofCaller = account(transport);
  const ofAdmins = admin(transport);

  /** Any server may answer 200: it is Gantry's word that counts. */
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
    checkBooks: ofAdmins.checkBooks,
    files: files(transport),
    models: models(transport),
    account: ofCaller,
    agents: agents(transport),
    runs: runs(transport),
    marketplace: marketplace(transport),
    drives: drives(transport),
    toolServers: toolServers(transport),
    idp: idpConnector(transport),
    secrets: secrets(transport),
    webhooks: webhooks(transport),
    admin: ofAdmins,
  };
}
