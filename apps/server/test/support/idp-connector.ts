import { randomBytes } from "node:crypto";
import { Writable } from "node:stream";
import { newId } from "@gantry/wire";
import { pino } from "pino";
import type { Database } from "../../src/engines/database/database.ts";
import { createNet } from "../../src/engines/net/create-net.ts";
import { selfSigned } from "../../src/engines/net/self-signed.fixture.ts";
import { createAesVault } from "../../src/engines/vault/aes-vault.ts";
import { actions } from "../../src/features/connectors/idp/action-table.ts";
import { type IdpConnector, type IdpDeps, openIdpConnector } from "../../src/features/connectors/idp/index.ts";
import { serveTenant, type TenantServer } from "../../src/features/connectors/idp/tenant-server.fixture.ts";
import type { Log } from "../../src/kernel/log.ts";
import { testDatabase } from "./database.ts";

export const allScopes: readonly string[] = [...new Set(actions.flatMap((action) => action.scopes))];

export interface IdpUnderTest {
  idp: IdpConnector;
  tenant: TenantServer;
  database: Database;
  log: Log;
  /** A user without a connector. */
  userId: string;
  /** Requested waits, recorded instead of waited for. */
  waits: number[];
  logged(): string;
  now(): number;
  /** A connector without cached tenants, at the present time. */
  restart(): void;
  passTime(milliseconds: number): void;
  /** Stores a token of the tenant and drops the cached check. */
  configure(scopes?: readonly string[], expiresInSeconds?: number): Promise<string>;
  /** A copy of this connector with other options. */
  open(options: Partial<IdpDeps>): IdpConnector;
  close(): Promise<void>;
}

/** The connector on a real database, vault and net, and a tenant to talk to over TLS. */
export async function idpUnderTest(shared?: Database): Promise<IdpUnderTest> {
  const { database, drop } = shared ? { database: shared, drop: async () => {} } : await testDatabase();
  const tenant = await serveTenant(selfSigned);
  const net = createNet({ allowPrivateNetwork: true, ca: selfSigned.cert });
  const vault = createAesVault(randomBytes(32));
  let [ahead, logged] = [0, ""];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk);
      done();
    },
  });
  const log = pino({ level: "trace" }, sink);
  const waits: number[] = [];
  const userId = newId("user");
  await database.sql`insert into users (id, username, role, plan, created_at) values (${userId}, 'ann', 'user', 'free', now())`;
  const clock = { now: () => new Date(Date.now() + ahead) };
  const sleep = async (milliseconds: number) => {
    waits.push(milliseconds);
    ahead += milliseconds;
  };
  const open = (options: Partial<IdpDeps>) => openIdpConnector({ database, vault, net, clock, log, sleep, ...options });

  const under: IdpUnderTest = {
    idp: open({}),
    tenant,
    database,
    log,
    userId,
    waits,
    logged: () => logged,
    now: () => clock.now().getTime(),
    restart() {
      ahead = 0;
      waits.length = 0;
      under.idp = open({});
    },
    passTime: (milliseconds) => {
      ahead += milliseconds;
    },
    async configure(scopes = allScopes, expiresInSeconds = 86_400) {
      const token = tenant.issue(scopes, expiresInSeconds);
      await under.idp.configure(userId, { domain: tenant.domain, token });
      tenant.seen.length = 0;
      return token;
    },
    open,
    async close() {
      await net.close();
      await tenant.close();
      await drop();
    },
  };
  return under;
}
