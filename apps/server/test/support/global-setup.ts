import { once } from "node:events";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestProject } from "vitest/node";
import { chooseAccount } from "../../src/engines/database/account.ts";
import { findBinaries } from "../../src/engines/database/binaries.ts";
import {
  clusterIn,
  initCluster,
  readPostmasterFile,
  spawnPostmaster,
  superuser,
} from "../../src/engines/database/cluster.ts";
import { freePort } from "../../src/engines/database/free-port.ts";
import { connect } from "../../src/engines/database/index.ts";
import { prepareTemplate } from "./database.ts";
import { openRabbitMqDesk } from "./rabbitmq.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's address of the shared PostgreSQL, without a database name. */
    postgresUrl: string;
    /** Why test databases cannot be created, e.g. a failing migration. Empty if they can. */
    databaseTrouble: string;
  }
}

const memoryFolder = "/dev/shm";
/** All test databases together take less. */
const enoughBytes = 12 * 1024 ** 3;

/** Memory, where enough is free: test databases are copied hundreds of times. */
async function fastestFolder(): Promise<string> {
  const free = await statfs(memoryFolder).then(
    ({ bavail, bsize }) => Math.min(bavail * bsize, freemem()),
    () => 0,
  );
  return free >= enoughBytes ? memoryFolder : tmpdir();
}

/** One PostgreSQL for all tests, in a temporary directory that is removed afterwards, and RabbitMQ on request. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(await fastestFolder(), "gantry-test-"));
  const account = await chooseAccount(await findBinaries(), home, () => undefined);
  const cluster = clusterIn(account);
  const password = "test";
  await initCluster(cluster, password);
  const port = await freePort();
  // The data does not outlive the test run, so fsync is off. Crash tests start their own PostgreSQL.
  const postmaster = await spawnPostmaster(cluster, port, {
    fsync: "off",
    full_page_writes: "off",
    wal_level: "minimal",
    max_wal_senders: 0,
    autovacuum: "off",
    checkpoint_timeout: "1h",
    max_connections: 400,
  });
  const rabbitMq = await openRabbitMqDesk();
  const stop = async (): Promise<void> => {
    await rabbitMq.close();
    if (postmaster.exitCode === null && postmaster.signalCode === null) {
      postmaster.ref(); // or this process ends before the server has
      postmaster.kill("SIGINT");
      await once(postmaster, "exit");
    }
    await rm(account.dir, { recursive: true, force: true });
    await rm(home, { recursive: true, force: true });
  };
  try {
    while ((await readPostmasterFile(cluster))?.status !== "ready") {
      if (postmaster.exitCode !== null) throw new Error(`The test database did not start, see ${cluster.logFile}`);
      await sleep(10);
    }
    const url = `postgres://${superuser}:${password}@127.0.0.1:${port}`;
    const admin = connect({ url: `${url}/postgres`, poolSize: 1 });
    // A failing migration fails only tests that need a database.
    const trouble = await prepareTemplate(admin, url).then(
      () => "",
      (error) => `The migrations do not apply: ${error}`,
    );
    await admin.close();
    project.provide("postgresUrl", url);
    project.provide("databaseTrouble", trouble);
    project.provide("rabbitMqDesk", rabbitMq.address);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
