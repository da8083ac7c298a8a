import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { isBucketName } from "../kernel/bucket-name.ts";
import { checkDatabaseAddress } from "./database-address.rules.ts";
import {
  choice,
  engineAddress,
  flag,
  headerValue,
  integer,
  optional,
  type Setting,
  sealingKey,
  text,
  textLike,
  WrongSetting,
  webAddress,
  wrong,
} from "./setting-kinds.ts";
import { contradicting, missingTogether } from "./settings-together.rules.ts";

/**
 * The environment, read once into one frozen object. This is the only file that reads process.env. Every setting is a
 * row of `settings`, so that all faults are listed together and the documentation can be made from the same table.
 */

/** The certificates themselves, so that a wrong file is told at the start and not at the first call. */
function readCertificates(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    const pem = readFileSync(path, "utf8");
    const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    for (const one of found) new X509Certificate(one);
    return found.length > 0 ? found.join("\n") : wrong(`names ${path}, which holds no certificate in PEM`);
  } catch (error) {
    if (error instanceof WrongSetting) throw error;
    return wrong(`names ${path}, which cannot be read as certificates in PEM: ${(error as Error).message}`);
  }
}

const shares = "a number from 0 to 1";

const headerPairs = "name=value pairs separated by commas";

/** As OpenTelemetry writes them in the environment. */
function readHeaders(given: string | undefined): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  const pairs = given.split(",").map((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim().toLowerCase();
    const value = decoded(pair.slice(at + 1).trim());
    if (at < 1 || !/^[a-z0-9_-]+$/.test(name) || value === undefined || !/^[\x20-\x7e]*$/.test(value)) {
      wrong(`must be ${headerPairs}`);
    }
    return [name, value];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

export const settings = {
  PORT: integer("Port to listen on.", 8080, 0, 65535),
  HOST: textLike(
    "Address to listen on.",
    "the name or the address of this machine",
    (given) => /^[A-Za-z0-9._:%-]+$/.test(given),
    "127.0.0.1",
  ),
  GANTRY_HOME: text("Folder that holds all state of an embedded server.", ".gantry"),
  GANTRY_POSTGRES_BIN: textLike(
    "Folder with the programs (postgres, initdb, …) of a PostgreSQL 18 on this machine. " +
      "The embedded database uses them instead of those that come with Gantry.",
    "an absolute path",
    isAbsolute,
    undefined,
  ),
  GANTRY_PUBLIC_URL: webAddress("Address that links carry when the server stands behind a proxy."),
  GANTRY_FILES_URL: webAddress(
    "Address of its own that links to files carry, another origin than GANTRY_PUBLIC_URL. Nothing else is served there.",
  ),
  GANTRY_ADMIN_KEY: headerValue(
    "API key of the user admin. Without it the first start makes one and prints it. " +
      "A value whose key was rotated or revoked since stays without force, and the start warns of it.",
    32,
    512,
  ),
  GANTRY_ALLOW_PRIVATE_NETWORK: flag("1 lets outgoing calls that users cause reach private and loopback addresses."),
  GANTRY_EXTRA_CA: {
    meaning: "File with certificates in PEM that outgoing TLS trusts beside the usual authorities.",
    shown: "unset",
    takes: "a path",
    read: readCertificates,
  } satisfies Setting<string | undefined>,
  GANTRY_EGRESS_PROXY: engineAddress(
    "HTTP proxy that outgoing calls to public addresses go through, by CONNECT. It may hold a user and a password.",
    ["http:"],
    ({ pathname, search }) => {
      if (pathname !== "/" || search !== "") wrong("must not hold a path: an address ends with the host and port");
    },
  ),
  GANTRY_SECRET_KEY: sealingKey(
    "Key that seals stored credentials. Without it one is made and kept under GANTRY_HOME.",
  ),
  GANTRY_NEW_SECRET_KEY: sealingKey(
    "Key that `gantry rekey` puts in the place of the present one; the server itself does not look at it.",
  ),
  ANTHROPIC_API_KEY: headerValue(
    "Key of the Anthropic API; with it anthropic/default is answered there, also where GANTRY_LLM_URL is set.",
  ),
  GANTRY_LLM_URL: webAddress(
    "An OpenAI-compatible server that answers anthropic/default: the base before /chat/completions. " +
      "Not where ANTHROPIC_API_KEY is set, which comes first; the start warns of it.",
  ),
  GANTRY_LLM_MODEL: optional('Name of the model at GANTRY_LLM_URL; left out, "default" is sent.'),
  GANTRY_LLM_KEY: headerValue("Key for GANTRY_LLM_URL."),
  GANTRY_RESULT_DAYS: integer("Days that results, runs and the files of predictions are kept.", 30, 1, 36_500),
  GANTRY_UPLOAD_DAYS: integer("Days that uploaded files are kept; 0: until their owner deletes them.", 0, 0, 36_500),
  GANTRY_UPLOAD_BYTES_PER_USER: integer(
    "Bytes that one user may store in uploads and drives, unless the plan sets `storage_bytes`. 0: no quota.",
    0,
    0,
    Number.MAX_SAFE_INTEGER,
  ),
  GANTRY_DELIVERY_DAYS: integer("Days that it is kept which webhooks were sent.", 30, 1, 36_500),
  GANTRY_USAGE_DAYS: integer("Days that single usage rows are kept; their sums are kept for ever.", 400, 1, 36_500),
  GANTRY_LOG_LEVEL: choice(
    "How much is logged; debug adds a line for every request.",
    ["debug", "info", "warn", "error", "silent"],
    "info",
  ),
  GANTRY_METRICS_KEY: headerValue(
    "Key that opens /metrics and nothing else, for Prometheus. An admin's API key opens it too.",
    16,
    512,
  ),
  GANTRY_METRICS_OPEN: flag("1 lets whoever reaches the port read /metrics without a key."),
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress(
    "Collector that traces are sent to (OTLP over HTTP, as JSON): the base before /v1/traces.",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: {
    meaning: "Headers for the collector, values percent-encoded.",
    shown: "unset",
    takes: headerPairs,
    read: readHeaders,
  } satisfies Setting<Record<string, string> | undefined>,
  OTEL_SERVICE_NAME: text("Name of this service in traces.", "gantry"),
  OTEL_TRACES_SAMPLER_ARG: {
    meaning: "Share of the traces beginning here that are recorded. A caller's own decision is followed.",
    shown: "1",
    takes: shares,
    read: (given: string | undefined) => {
      if (given === undefined) return 1;
      const ratio = Number(given);
      if (!/^\d*\.?\d+$/.test(given) || ratio > 1) wrong(`must be ${shares}`);
      return ratio;
    },
  } satisfies Setting<number>,
  GANTRY_ROLE: choice(
    "What this process does: all, all but queued work (api), or queued work (worker, which clients are not sent to).",
    ["all", "api", "worker"],
    "all",
  ),
  GANTRY_STOP_DELAY_SECONDS: integer(
    "Seconds that a stopping process serves on while /readyz is 503 already, so that a load balancer notices first.",
    0,
    0,
    300,
  ),
  GANTRY_STOP_GRACE_SECONDS: integer(
    "Seconds that running work has to end when the process stops; what is queued goes back to the queue after them.",
    30,
    1,
    3600,
  ),
  GANTRY_WORKER_PARALLEL: integer("Queued predictions that one worker process runs at the same time.", 64, 1, 1000),
  GANTRY_RUN_PARALLEL: integer("Runs of agents that one worker process works on at the same time.", 64, 1, 1000),
  S3_ENDPOINT: webAddress(
    "An S3 server that keeps the files, instead of a folder under GANTRY_HOME: scheme, host and port.",
  ),
  S3_PUBLIC_ENDPOINT: webAddress("The address by which clients reach the S3 server, where it is another one."),
  S3_BUCKET: textLike(
    "Bucket that holds everything.",
    "2 to 255 letters, digits, dots, hyphens and underscores",
    isBucketName,
    undefined,
  ),
  S3_REGION: text("Region of the bucket.", "us-east-1"),
  S3_ACCESS_KEY_ID: headerValue("Access key of the S3 server."),
  S3_SECRET_ACCESS_KEY: optional("Secret of that access key."),
  AMQP_URL: engineAddress(
    "A RabbitMQ that wakes workers, instead of notifications of PostgreSQL.",
    ["amqp:", "amqps:"],
    ({ hostname }) => {
      if (hostname === "") wrong("must name a host");
    },
  ),
  DATABASE_URL: engineAddress(
    "An external PostgreSQL instead of the embedded one.",
    ["postgres:", "postgresql:"],
    checkDatabaseAddress,
  ),
} as const;

export type Config = Readonly<{ [K in keyof typeof settings]: ReturnType<(typeof settings)[K]["read"]> }>;

/** One setting as it was given, or an error that names it. */
export function readSetting<Name extends keyof Config>(environment: NodeJS.ProcessEnv, name: Name): Config[Name] {
  try {
    return settings[name].read(given(environment, name)) as Config[Name];
  } catch (error) {
    throw error instanceof WrongSetting ? new WrongSetting(`${name} ${error.message}`) : error;
  }
}

/** The whole configuration, or an error whose message lists every wrong setting. */
export function readConfig(environment: NodeJS.ProcessEnv, workingDirectory: string): Config {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const name of Object.keys(settings) as (keyof Config)[]) {
    try {
      values[name] = readSetting(environment, name);
    } catch (error) {
      if (!(error instanceof WrongSetting)) throw error;
      faults.push(`  ${error.message}`);
    }
  }
  // One that is wrong is told of already.
  const isSet = (name: string) => values[name] !== undefined || Boolean(environment[name]?.trim());
  faults.push(...missingTogether(isSet), ...contradicting(values));
  if (faults.length > 0) throw new Error(`Gantry cannot start, these settings are wrong:\n${faults.join("\n")}`);
  values.GANTRY_HOME = absoluteHome(String(values.GANTRY_HOME), workingDirectory);
  return Object.freeze(values) as Config;
}

/**
 * Blanks and line breaks around a value come from files and shells, never from whoever chose it. Inside of one nothing
 * of the kind has a meaning, and what travels in a header would be refused at the first call.
 */
function given(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = environment[name]?.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (value !== undefined && /[\x00-\x1f\x7f]/.test(value))
    wrong("must not hold a line break or another control character");
  return value === "" ? undefined : value;
}

function absoluteHome(home: string, workingDirectory: string): string {
  if (home === "~" || home.startsWith("~/")) return resolve(homedir(), home.slice(2));
  return isAbsolute(home) ? home : resolve(workingDirectory, home);
}
