import { Writable } from "node:stream";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { pino } from "pino";
import { createAesVault } from "../../src/engines/vault/aes-vault.ts";
import { type Accounts, openAccounts } from "../../src/features/accounts/index.ts";
import { openAudit } from "../../src/features/audit/index.ts";
import { openBilling } from "../../src/features/billing/index.ts";
import { readStorage } from "../../src/features/files/index.ts";
import { openNotices } from "../../src/features/notices/index.ts";
import { openSeries } from "../../src/features/series/index.ts";
import { accountApi } from "../../src/http/account-api/account-api.ts";
import { sessionRoutes } from "../../src/http/console-api/session-routes.ts";
import { createServer } from "../../src/http/foundation/server.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { testDatabase } from "./database.ts";

export const operatorKey = "operator-key-for-tests-0123456789-abcdef";

export interface Answer {
  status: number;
  headers: LightMyRequestResponse["headers"];
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
  body: any;
}

export interface AccountsUnderTest {
  app: FastifyInstance;
  accounts: Accounts;
  database: Awaited<ReturnType<typeof testDatabase>>["database"];
  logged(): string;
  passTime(milliseconds: number): void;
  call(method: NonNullable<InjectOptions["method"]>, url: string, options?: CallOptions): Promise<Answer>;
  /** Creates a user and returns one of their keys. */
  newUser(username: string, user?: object, key?: object): Promise<string>;
  close(): Promise<void>;
}

interface CallOptions {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** The account API and sign-in on a real database, with a clock that tests can advance. */
export async function accountsUnderTest(): Promise<AccountsUnderTest> {
  const { database, drop } = await testDatabase();
  let ahead = 0;
  const clock: Clock = { now: () => new Date(Date.now() + ahead) };
  let logged = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk);
      done();
    },
  });
  const log = pino({ level: "trace" }, sink);
  const accounts = await openAccounts({ database, clock, log });
  await accounts.bootstrap(operatorKey);
  const app = createServer({ log, publicUrl: undefined, authenticate: accounts.authenticate });
  await app.register(accountApi, {
    accounts,
    billing: openBilling({ database }),
    series: openSeries({ database }),
    notices: openNotices({ database, vault: createAesVault(Buffer.alloc(32, 3)) }),
    keeps: { inputs: true, result_days: 30, usage_days: 400, delivery_days: 30 },
    storageOf: (userId) => readStorage(database.sql, userId),
    clock,
    version: "0.0.0",
  });
  await app.register(sessionRoutes, {
    accounts,
    audit: openAudit({ database }),
    clock,
    publicUrl: undefined,
    traceUrl: undefined,
  });

  const call: AccountsUnderTest["call"] = async (method, url, { key, body, headers } = {}) => {
    const response = await app.inject({
      method,
      url,
      headers: { ...(key !== undefined && { "x-api-key": key }), ...headers },
      ...(body !== undefined && { payload: body as object }),
    });
    const isJson = String(response.headers["content-type"]).includes("json");
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      body: isJson ? response.json() : undefined,
    };
  };

  return {
    app,
    accounts,
    database,
    logged: () => logged,
    passTime: (milliseconds) => {
      ahead += milliseconds;
    },
    call,
    async newUser(username, user = {}, key = {}) {
      const made = await call("POST", "/api/v2/admin/users", { key: operatorKey, body: { username, ...user } });
      if (made.status !== 201) throw new Error(made.text);
      const own = await call("POST", `/api/v2/admin/users/${username}/keys`, { key: operatorKey, body: key });
      if (own.status !== 201) throw new Error(own.text);
      return own.body.key;
    },
    async close() {
      await app.close();
      await accounts.close();
      await drop();
    },
  };
}
