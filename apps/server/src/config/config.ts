import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { isBucketName } from "../kernel/bucket-name.ts";
import { modelSettings } from "./model-settings.ts";
import { certificates, egressProxy, privateNetworks, proxyAddress } from "./network-settings.ts";
import { defaultHome } from "./own-folder.ts";
import {
  choice,
  engineAddress,
  flag,
  flagOn,
  headerValue,
  integer,
  optional,
  processes,
  type Setting,
  sealingKey,
  text,
  textLike,
  WrongSetting,
  webAddress,
  wrong,
} from "./setting-kinds.ts";
import { checkDatabaseUrl, contradicting, missingTogether } from "./setting-rules.ts";
import { signInSettings } from "./sign-in-settings.ts";
import { telemetrySettings } from "./telemetry-settings.ts";

const origins = "origins such as https://app.example.com, separated by commas, or *";

function readOrigins(given: string | undefined): readonly string[] {
  const found = (given ?? "")
    .split(",")
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== "");
  for (const one of found) if (one !== "*" && URL.parse(one)?.origin !== one) wrong(`must be ${origins}`);
  return found;
}

export const settings = {
  PORT: integer("Port to listen on.", 8080, 0, 65535),
  HOST: textLike(
    "Address to listen on.",
    "a host name or IP address of this machine",
    (given) => /^[A-Za-z0-9._:%-]+$/.test(given),
    "127.0.0.1",
  ),
  GANTRY_HOME: text(
    "Folder for all local state: database, files, keys. Without a checkout the default is ~/.gantry.",
    defaultHome,
  ),
  GANTRY_POSTGRES_BIN: textLike(
    "Folder with the PostgreSQL 18 programs (postgres, initdb, …) that the embedded database uses instead of the bundled ones.",
    "an absolute path",
    isAbsolute,
    undefined,
  ),
  GANTRY_PUBLIC_URL: webAddress("Public URL of this server, used in links. Set it behind a reverse proxy."),
  GANTRY_FILES_URL: webAddress(
    "Separate origin for links to files, different from GANTRY_PUBLIC_URL. Only files are served there.",
  ),
  GANTRY_CORS_ORIGINS: {
    meaning:
      "Origins whose pages may call /mcp and the routes for OpenAI and Anthropic clients, separated by commas; * for all.",
    shown: "unset",
    takes: origins,
    read: readOrigins,
  } satisfies Setting<readonly string[]>,
  GANTRY_ADMIN_KEY: headerValue(
    "API key of the user admin. If unset, the first start creates a key and prints it. " +
      "A key that was rotated or revoked later stays invalid; the server logs a warning at start.",
    32,
    512,
  ),
  GANTRY_TEAM_CREATION: choice("Who may create teams: everyone, or admins only.", ["admin", "everyone"], "admin"),
  ...signInSettings,
  GANTRY_ALLOW_PRIVATE_NETWORK: privateNetworks(
    "Private addresses that users' outgoing calls may reach: a list such as 127.0.0.1:8188, 10.20.0.0/16, gpu.lan:8000. " +
      "1 allows all private and loopback addresses.",
  ),
  GANTRY_EXTRA_CA: certificates("PEM file with additional certificate authorities for outgoing TLS."),
  HTTPS_PROXY: {
    ...proxyAddress(
      "HTTP proxy (CONNECT) for outgoing calls to public https:// addresses. May include a user and a password. " +
        "https_proxy takes precedence.",
    ),
    also: "https_proxy",
  },
  HTTP_PROXY: {
    ...proxyAddress("The same for http:// addresses. http_proxy takes precedence."),
    also: "http_proxy",
  },
  NO_PROXY: {
    ...optional(
      "Hosts to connect to without the proxy, separated by commas: names (with their subdomains), addresses, networks, " +
        "each with an optional port; * for all. Private addresses are always connected to directly. " +
        "no_proxy takes precedence.",
    ),
    takes: "hosts, addresses and networks",
    also: "no_proxy",
  },
  GANTRY_EGRESS_PROXY: egressProxy("Proxy for both schemes instead of HTTPS_PROXY and HTTP_PROXY. off ignores them."),
  GANTRY_SECRET_KEY: sealingKey(
    "Key that encrypts stored credentials. If unset, a key is created and kept in GANTRY_HOME.",
  ),
  GANTRY_NEW_SECRET_KEY: sealingKey("New encryption key for `gantry rekey`. The server ignores it."),
  ...modelSettings,
  GANTRY_KEEP_INPUTS: flagOn("Set to 0 to keep no inputs of predictions with their results."),
  GANTRY_RESULT_DAYS: integer("Days to keep results, runs and files of predictions.", 30, 1, 36_500),
  GANTRY_THREAD_DAYS: integer(
    "Days to keep a thread and its runs after the end of its last run. 0 keeps it as long as other runs.",
    0,
    0,
    36_500,
  ),
  GANTRY_UPLOAD_DAYS: integer(
    "Days to keep uploaded files. 0 keeps them until their owner deletes them.",
    0,
    0,
    36_500,
  ),
  GANTRY_UPLOAD_BYTES_PER_USER: integer(
    "Storage quota per user in bytes, for uploads, drives, stored responses and files of batches. The plan's `storage_bytes` overrides it. 0 means no quota.",
    0,
    0,
    Number.MAX_SAFE_INTEGER,
  ),
  GANTRY_DELIVERY_DAYS: integer("Days to keep webhook delivery records.", 30, 1, 36_500),
  GANTRY_USAGE_DAYS: integer("Days to keep single usage rows. Totals are kept forever.", 400, 1, 36_500),
  GANTRY_AUDIT_DAYS: integer("Days to keep the audit log. 0 keeps it forever.", 400, 0, 36_500),
  GANTRY_LOG_LEVEL: choice(
    "Log level. debug logs every request.",
    ["debug", "info", "warn", "error", "silent"],
    "info",
  ),
  GANTRY_METRICS_KEY: headerValue("Key for /metrics only, for Prometheus. An admin's API key works too.", 16, 512),
  GANTRY_METRICS_OPEN: flag("Set to 1 to serve /metrics without a key."),
  ...telemetrySettings,
  GANTRY_ROLE: choice(
    "What this server does: everything (all), requests without queued work (api), or queued work only (worker).",
    ["all", "api", "worker"],
    "all",
  ),
  GANTRY_PROCESSES: processes(
    "Processes that serve requests and run work, on one port. auto is half of the processors, at least 1.",
  ),
  GANTRY_STOP_DELAY_SECONDS: integer(
    "Seconds to keep serving after a stop signal while /readyz answers 503, so that load balancers notice first.",
    0,
    0,
    300,
  ),
  GANTRY_STOP_GRACE_SECONDS: integer(
    "Seconds that running work may take to finish when the process stops. Queued work then returns to the queue.",
    30,
    1,
    3600,
  ),
  GANTRY_WORKER_PARALLEL: integer(
    "Queued predictions that this server runs at once, in all its processes together.",
    64,
    1,
    1000,
  ),
  GANTRY_RUN_PARALLEL: integer(
    "Agent runs that this server works on at once, in all its processes together.",
    64,
    1,
    1000,
  ),
  GANTRY_SEARXNG_URL: webAddress(
    "SearXNG server for the tool web_search, for all agents without a provider of their own. It must allow JSON results " +
      "(search.formats) and may have a private address.",
  ),
  S3_ENDPOINT: webAddress("S3 server other than AWS: scheme, host and port. Needs S3_BUCKET."),
  S3_PUBLIC_ENDPOINT: webAddress("URL of the S3 server for clients, if it differs from S3_ENDPOINT."),
  S3_BUCKET: textLike(
    "Bucket for all files, instead of a folder in GANTRY_HOME.",
    "2 to 255 letters, digits, dots, hyphens and underscores",
    isBucketName,
    undefined,
  ),
  S3_REGION: optional("Region of the bucket. If unset, us-east-1 with S3_ENDPOINT, otherwise AWS_REGION."),
  S3_ACCESS_KEY_ID: headerValue(
    "S3 access key ID. If unset, the AWS SDK finds credentials: environment, shared files, web identity, roles.",
  ),
  S3_SECRET_ACCESS_KEY: optional("S3 secret access key."),
  S3_SESSION_TOKEN: headerValue("Session token, if the S3 keys are temporary.", 1, 8192),
  AMQP_URL: engineAddress(
    "RabbitMQ server that wakes workers, instead of PostgreSQL notifications.",
    ["amqp:", "amqps:"],
    ({ hostname }) => {
      if (hostname === "") wrong("must name a host");
    },
  ),
  DATABASE_URL: engineAddress(
    "External PostgreSQL, instead of the embedded one.",
    ["postgres:", "postgresql:"],
    checkDatabaseUrl,
  ),
} as const;

export type Config = Readonly<{ [K in keyof typeof settings]: ReturnType<(typeof settings)[K]["read"]> }>;

function readSetting<Name extends keyof Config>(environment: NodeJS.ProcessEnv, name: Name): Config[Name] {
  const setting: Setting<unknown> = settings[name];
  try {
    const preferred = setting.also === undefined ? undefined : given(environment, setting.also);
    return setting.read(preferred ?? given(environment, name)) as Config[Name];
  } catch (error) {
    throw error instanceof WrongSetting ? new WrongSetting(`${name} ${error.message}`) : error;
  }
}

/** Reads and checks every setting. The error lists all wrong ones. This file is the only reader of the environment. */
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
  // An invalid setting counts as set: its own error is enough.
  const isSet = (name: string) => values[name] !== undefined || Boolean(environment[name]?.trim());
  faults.push(...missingTogether(isSet), ...contradicting(values));
  if (faults.length > 0) throw new Error(`Gantry cannot start. These settings are invalid:\n${faults.join("\n")}`);
  values.GANTRY_HOME = absoluteHome(String(values.GANTRY_HOME), workingDirectory);
  return Object.freeze(values) as Config;
}

/** Trims values: spaces and line breaks around them come from files and shells. */
function given(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = environment[name]?.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the check is for them
  if (value !== undefined && /[\x00-\x1f\x7f]/.test(value))
    wrong("must not contain line breaks or other control characters");
  return value === "" ? undefined : value;
}

function absoluteHome(home: string, workingDirectory: string): string {
  if (home === "~" || home.startsWith("~/")) return resolve(homedir(), home.slice(2));
  return isAbsolute(home) ? home : resolve(workingDirectory, home);
}
