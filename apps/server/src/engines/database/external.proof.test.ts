import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { chooseAccount } from "./account.ts";
import { findBinaries } from "./binaries.ts";
import { clusterIn, initCluster, readPostmasterFile, spawnPostmaster } from "./cluster.ts";
import { freePort } from "./free-port.ts";
import { connect, connectExternalDatabase, type Database } from "./index.ts";

describe("the start reports", () => {
  test.each([
    ["not a URL", "DATABASE_URL must have the form"],
    ["mysql://127.0.0.1/db", "DATABASE_URL must have the form"],
  ])("%s", async (url, message) => {
    await expect(connectExternalDatabase({ url })).rejects.toThrow(message);
  });

  test("a server that does not run", async () => {
    const port = await freePort();
    const url = `postgres://u:secret@127.0.0.1:${port}/db`;
    const error = await connectExternalDatabase({ url }).catch((caught: Error) => caught);
    expect(String(error)).toContain(`The database at 127.0.0.1:${port} cannot be used: connect ECONNREFUSED`);
    expect(String(error)).not.toContain("secret");
  });

  test("a wrong password, and a missing database", async () => {
    const good = inject("postgresUrl");
    await expect(connectExternalDatabase({ url: `${good.replace(":test@", ":wrong@")}/postgres` })).rejects.toThrow(
      "password authentication failed",
    );
    await expect(connectExternalDatabase({ url: `${good}/nowhere` })).rejects.toThrow('"nowhere" does not exist');
  });
});

describe("a database that Gantry cannot use is refused", () => {
  const name = `unfit_${randomBytes(4).toString("hex")}`;
  let admin: Database;
  beforeAll(() => {
    admin = connect({ url: `${inject("postgresUrl")}/postgres`, poolSize: 1, deadlineMs: 60_000 });
  });
  afterEach(() => admin.sql.unsafe(`drop database if exists ${name} with (force)`));
  afterAll(() => admin.close());

  test.each(["SQL_ASCII", "LATIN1"])("its encoding is %s", async (encoding) => {
    await admin.sql.unsafe(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
    await expect(connectExternalDatabase({ url: `${inject("postgresUrl")}/${name}` })).rejects.toThrow(
      `cannot be used: the encoding of the database "${name}" is ${encoding}, and Gantry needs UTF8. Create a database with`,
    );
  });

  test("its search_path contains no schema", async () => {
    await admin.sql.unsafe(`create database ${name}`);
    await admin.sql.unsafe(`alter database ${name} set search_path = nowhere`);
    await expect(connectExternalDatabase({ url: `${inject("postgresUrl")}/${name}` })).rejects.toThrow(
      `the search_path of the role "postgres" contains no schema of the database "${name}" that it can use. Run create`,
    );
  });
});

test.each(["require", "verify-full"])("a server without TLS is refused: sslmode=%s", async (mode) => {
  const url = `${inject("postgresUrl")}/postgres?sslmode=${mode}`;
  const since = performance.now();
  await expect(connectExternalDatabase({ url })).rejects.toThrow(
    /cannot be used: The server does not support TLS, which sslmode requires$/,
  );
  expect(performance.now() - since).toBeLessThan(15_000);
  const database = await connectExternalDatabase({ url: url.replace(mode, "prefer") });
  expect(await database.sql`select 1 as one`).toEqual([{ one: 1 }]);
  await database.close();
});

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"]);
    return true;
  } catch {
    return false;
  }
}

function makeCertificate(name: string, key: string, certificate: string): void {
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`, "-keyout", key, "-out", certificate],
    ],
    { stdio: "ignore" },
  );
}

describe.runIf(hasOpenssl())("over TLS", () => {
  let home: string;
  let certificate: string;
  let key: string;
  /** From an authority that signed nothing here. */
  let strange: string;
  let url: string;
  let stopServer: () => Promise<void>;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "gantry-tls-"));
    [certificate, key, strange] = [join(home, "server.crt"), join(home, "server.key"), join(home, "strange.crt")];
    makeCertificate("localhost", key, certificate);
    makeCertificate("elsewhere", join(home, "strange.key"), strange);
    const cluster = clusterIn(await chooseAccount(await findBinaries(), home, () => undefined));
    await initCluster(cluster, "test");
    const port = await freePort();
    const files = { ssl_cert_file: certificate, ssl_key_file: key, ssl_ca_file: certificate };
    const settings = { fsync: "off", ssl: "on", ...files };
    const postmaster = await spawnPostmaster(cluster, port, settings);
    stopServer = async () => {
      postmaster.kill("SIGINT");
      await once(postmaster, "exit");
    };
    while ((await readPostmasterFile(cluster))?.status !== "ready") await sleep(10);
    url = `postgres://postgres:test@localhost:${port}/postgres`;
  });

  afterAll(async () => {
    await stopServer();
    await rm(home, { recursive: true, force: true });
  });

  test.each(["disable", "prefer", "require", "verify-ca", "verify-full"])("sslmode=%s", async (mode) => {
    const database = await connectExternalDatabase({ url: `${url}?sslmode=${mode}&sslrootcert=${certificate}` });
    const [row] = await database.sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    expect(row?.ssl).toBe(mode !== "disable");
    await database.close();
  });

  test("verify-full refuses a certificate for another name, or of an unknown authority", async () => {
    const other = url.replace("localhost", "127.0.0.1");
    await expect(
      connectExternalDatabase({ url: `${other}?sslmode=verify-full&sslrootcert=${certificate}` }),
    ).rejects.toThrow("does not match certificate");
    await expect(connectExternalDatabase({ url: `${url}?sslmode=verify-full` })).rejects.toThrow("self-signed");
  });

  test("sslrootcert is checked even with sslmode=require", async () => {
    await expect(connectExternalDatabase({ url: `${url}?sslmode=require&sslrootcert=${strange}` })).rejects.toThrow(
      "self-signed",
    );
  });

  test.each(["require", "verify-full"])("the client certificate is sent: sslmode=%s", async (mode) => {
    const files = `sslrootcert=${certificate}&sslcert=${certificate}&sslkey=${key}`;
    const database = await connectExternalDatabase({ url: `${url}?sslmode=${mode}&${files}` });
    const [row] = await database.sql`select client_dn from pg_stat_ssl where pid = pg_backend_pid()`;
    expect(row?.client_dn).toBe("/CN=localhost");
    await database.close();
  });

  test.each(["sslrootcert", "sslcert", "sslkey"])("the error names a missing file: %s", async (name) => {
    await expect(connectExternalDatabase({ url: `${url}?sslmode=require&${name}=/nowhere.pem` })).rejects.toThrow(
      `The ${name} file of DATABASE_URL cannot be read: ENOENT: no such file or directory, open '/nowhere.pem'`,
    );
  });

  test("a certificate and a key that do not match are refused", async () => {
    const files = `sslcert=${strange}&sslkey=${key}`;
    await expect(connectExternalDatabase({ url: `${url}?sslmode=require&${files}` })).rejects.toThrow(
      "The certificates in DATABASE_URL cannot be used",
    );
  });

  test("deadlines and lost connections work as without TLS", async () => {
    const database = await connectExternalDatabase({ url: `${url}?sslmode=require`, poolSize: 1, deadlineMs: 500 });
    const pid = async (): Promise<number> => (await database.sql`select pg_backend_pid() as pid`)[0]?.pid;
    const first = await pid();
    await expect(database.sql`select pg_sleep(5)`).rejects.toMatchObject({ type: "service_unavailable" });
    expect(await pid()).toBe(first); // Cancelled on the same connection.
    process.kill(first, "SIGSTOP");
    try {
      await expect(database.sql`select 1`).rejects.toMatchObject({ type: "service_unavailable" });
      await expect.poll(() => pid().catch(() => first)).not.toBe(first);
    } finally {
      process.kill(first, "SIGCONT");
    }
    await expect(database.sql`select pg_terminate_backend(pg_backend_pid())`).rejects.toMatchObject({
      type: "service_unavailable",
    });
    expect(await database.sql`select 1 as one`).toEqual([{ one: 1 }]);
    await database.close();
  });
});
