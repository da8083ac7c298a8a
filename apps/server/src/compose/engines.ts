import { randomBytes } from "node:crypto";
import type { Config } from "../config/config.ts";
import type { BlobStore } from "../engines/blobs/blobs.ts";
import { openFilesystemBlobs } from "../engines/blobs/filesystem.ts";
import { loadOrCreateSigningCredentials } from "../engines/blobs/signing-credentials.ts";
import {
  connectExternalDatabase,
  connectionsOfProcess,
  type Database,
  type OpenedDatabase,
  startEmbeddedDatabase,
  type Trouble,
} from "../engines/database/index.ts";
import { createProxiedAgents } from "../engines/net/proxied-agents.ts";
import { openPostgresQueue } from "../engines/queue/postgres-queue.ts";
import type { OnTrouble, Queue } from "../engines/queue/queue.ts";
import type { LinkServedStore } from "../features/files/index.ts";
import type { Log } from "../kernel/log.ts";
import { egressOf } from "./egress.ts";

const bucket = "gantry";

/** The first of several processes warns if the connections of all do not suffice. */
export function openDatabase(
  config: Config,
  log: Log,
  onProgress: (text: string) => void,
  isFirst: boolean,
): Promise<OpenedDatabase> {
  if (config.DATABASE_URL !== undefined)
    return connectExternalDatabase({
      url: config.DATABASE_URL,
      connections: isFirst ? config.GANTRY_PROCESSES * connectionsOfProcess : undefined,
      onTrouble: (text) => log.warn(text),
    });
  return startEmbeddedDatabase({
    home: config.GANTRY_HOME,
    programs: config.GANTRY_POSTGRES_BIN,
    onProgress,
    onWarning: (text) => log.warn(text),
    onTrouble: (text, error) => log.error({ err: error }, text),
  });
}

const sentences: Readonly<Record<Trouble, string>> = {
  full: "The database disk is full. Nothing can be stored.",
  "read-only": "The database is read-only. Nothing can be stored.",
  denied: "The database role lacks privileges on its tables or schema.",
  "login refused": "The database refuses the login. Check its role, password and access rules.",
  "no connection left": "The database has no free connections.",
  away: "The database cannot be reached or does not answer in time.",
};

/** The reason for `/readyz` to answer 503. */
export async function notReady(database: OpenedDatabase): Promise<string | undefined> {
  if (await database.ready()) return undefined;
  return sentences[database.trouble() ?? "away"];
}

export async function openOwnBlobs(home: string, linkBase: string | undefined): Promise<LinkServedStore> {
  return openFilesystemBlobs({ home, bucket, credentials: await loadOrCreateSigningCredentials(home), linkBase });
}

/** For copying files: needs no key for signing links, and creates none. */
export async function openUnsignedBlobs(config: Config): Promise<BlobStore> {
  if (config.S3_BUCKET !== undefined) return openS3(config);
  const credentials = { accessKeyId: "none", secretAccessKey: randomBytes(30).toString("base64url") };
  return openFilesystemBlobs({ home: config.GANTRY_HOME, bucket, credentials });
}

// S3 and RabbitMQ need large libraries, loaded only if used.
export async function openS3(config: Config, onTrouble?: OnTrouble): Promise<BlobStore> {
  const { connectMs, openS3Blobs, ofAgents } = await import("../engines/blobs/s3.ts");
  const endpoint = config.S3_ENDPOINT;
  return openS3Blobs({
    endpoint,
    publicEndpoint: config.S3_PUBLIC_ENDPOINT,
    bucket: config.S3_BUCKET ?? "",
    // Servers other than AWS rarely have regions, and then expect the usual one.
    region: config.S3_REGION ?? (endpoint === undefined ? undefined : "us-east-1"),
    accessKeyId: config.S3_ACCESS_KEY_ID,
    secretAccessKey: config.S3_SECRET_ACCESS_KEY,
    sessionToken: config.S3_SESSION_TOKEN,
    agents: createProxiedAgents(egressOf(config), { ...ofAgents, connectMs }),
    ...(onTrouble && { onTrouble }),
  });
}

export async function openQueue(config: Config, database: Database, onTrouble: OnTrouble): Promise<Queue> {
  if (config.AMQP_URL === undefined) return openPostgresQueue({ database, onTrouble });
  const { openRabbitMqQueue } = await import("../engines/queue/rabbitmq-queue.ts");
  return openRabbitMqQueue({ url: config.AMQP_URL, onTrouble });
}
