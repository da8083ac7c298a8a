import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compose, type Gantry } from "../../src/compose/compose.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/engines/database/index.ts";
import type { BodyPace } from "../../src/http/foundation/body-pace.ts";
import { createFrontListener } from "../../src/http/foundation/front-listener.ts";
import { listenerDialects } from "../../src/http/listener-dialects.ts";
import { createLog } from "../../src/kernel/log.ts";
import { testDatabase } from "./database.ts";

const adminKey = "admin-key-for-tests-0123456789-abcdef";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
  body: any;
}

export interface CallOptions {
  key?: string;
  json?: unknown;
  /** Sent as multipart form data. */
  form?: Record<string, string | Blob> | FormData;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface GantryUnderTest {
  url: string;
  adminKey: string;
  home: string;
  database: Database;
  gantry: Gantry;
  /** The log so far. */
  logged(): string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  fetch(method: string, path: string, options?: CallOptions): Promise<Response>;
  /** Creates a user with credit; returns one of its keys. */
  newUser(username: string, options?: { plan?: string; credit?: number; key?: object }): Promise<string>;
  /** Stops the server as SIGTERM does. */
  close(): Promise<void>;
}

export interface GantryNode extends GantryUnderTest {
  databaseUrl: string;
}

/** The whole server in this process, on its own database, called over HTTP as users do. */
export async function startGantry(
  options: { env?: Record<string, string>; beside?: GantryNode; pace?: BodyPace } = {},
): Promise<GantryNode> {
  const own = options.beside ? undefined : await testDatabase();
  const databaseUrl = options.beside?.databaseUrl ?? own?.url ?? "";
  const home = options.beside?.home ?? (await mkdtemp(join(tmpdir(), "gantry-test-")));
  const config = readConfig(
    {
      DATABASE_URL: databaseUrl,
      GANTRY_HOME: home,
      GANTRY_ADMIN_KEY: adminKey,
      GANTRY_ALLOW_PRIVATE_NETWORK: "1",
      PORT: "0",
      GANTRY_FIND_MODELS: "0",
      ...options.env,
    },
    home,
  );
  let logged = "";
  const log = createLog("debug", {
    write: (line: string) => {
      logged += line;
    },
  });
  const frontListener = createFrontListener(undefined, listenerDialects, options.pace);
  const port = await frontListener.listen("127.0.0.1", 0);
  const gantry = await compose(config, log, () => {});
  frontListener.open(gantry.listener, gantry.notReady);
  const url = `http://127.0.0.1:${port}`;

  const send: GantryUnderTest["fetch"] = (method, path, { key = adminKey, json, form, headers = {}, signal } = {}) => {
    const body = form === undefined ? (json === undefined ? undefined : JSON.stringify(json)) : toFormData(form);
    return fetch(path.startsWith("http") ? path : url + path, {
      method,
      headers: {
        ...(key !== "" && !path.startsWith("http") && { "x-api-key": key }),
        ...(json !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
  };

  const call: GantryUnderTest["call"] = async (method, path, callOptions) => {
    const response = await send(method, path, callOptions);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };

  return {
    url,
    adminKey,
    home,
    databaseUrl,
    database: own?.database ?? (options.beside?.database as Database),
    gantry,
    logged: () => logged,
    fetch: send,
    call,
    async newUser(wanted, { plan = "unlimited", credit = 10, key = {} } = {}) {
      let username = wanted;
      let made = await call("POST", "/api/v2/admin/users", { json: { username, plan } });
      // A retried test finds the user of its first attempt.
      for (let n = 2; made.status === 409 && n < 5; n++) {
        username = `${wanted}-${n}`;
        made = await call("POST", "/api/v2/admin/users", { json: { username, plan } });
      }
      if (made.status !== 201) throw new Error(made.text);
      if (credit !== 0) {
        const paid = await call("POST", `/api/v2/admin/users/${username}/credits`, {
          json: { amount: credit, reason: "test" },
        });
        if (paid.status !== 201) throw new Error(paid.text);
      }
      const own = await call("POST", `/api/v2/admin/users/${username}/keys`, { json: key });
      if (own.status !== 201) throw new Error(own.text);
      return own.body.key;
    },
    async close() {
      const closed = frontListener.close();
      await gantry.drain(5_000);
      frontListener.server.closeAllConnections();
      await closed;
      await gantry.close();
      await own?.drop();
      if (!options.beside) await rm(home, { recursive: true, force: true });
    },
  };
}

function toFormData(form: Record<string, string | Blob> | FormData): FormData {
  if (form instanceof FormData) return form;
  const data = new FormData();
  for (const [name, value] of Object.entries(form)) {
    if (typeof value === "string") data.append(name, value);
    else data.append(name, value, value instanceof File ? value.name : "file");
  }
  return data;
}
