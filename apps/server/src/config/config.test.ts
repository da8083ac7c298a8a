import { expect, test } from "vitest";
import { readConfig, settings } from "./config.ts";
import { unknownSettings } from "./setting-rules.ts";

const faultsOf = (environment: Record<string, string>): string[] => {
  try {
    readConfig(environment, "/there");
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").slice(1);
  }
};

test("every invalid setting is reported at once", () => {
  expect(faultsOf({ PORT: "08080x", HOST: "a b", S3_BUCKET: "xx", GANTRY_LLM_KEY: "m" })).toEqual([
    expect.stringMatching(/^ {2}PORT must be/),
    "  HOST must be a host name or IP address of this machine",
    "  GANTRY_LLM_URL must be set because GANTRY_LLM_KEY is set",
  ]);
  for (const name of ["S3_PUBLIC_ENDPOINT", "S3_ENDPOINT"]) {
    expect(faultsOf({ [name]: "https://files.test" })).toEqual([`  S3_BUCKET must be set because ${name} is set`]);
  }
  expect(faultsOf({ S3_BUCKET: "files", S3_ACCESS_KEY_ID: "k" })).toEqual([
    "  S3_SECRET_ACCESS_KEY must be set because S3_ACCESS_KEY_ID is set",
  ]);
  expect(faultsOf({ S3_BUCKET: "files", S3_SESSION_TOKEN: "t" })).toEqual([
    "  S3_ACCESS_KEY_ID must be set because S3_SESSION_TOKEN is set",
    "  S3_SECRET_ACCESS_KEY must be set because S3_SESSION_TOKEN is set",
  ]);
  expect(faultsOf({ GANTRY_FILES_URL: "https://files.test" })).toEqual([
    "  GANTRY_PUBLIC_URL must be set because GANTRY_FILES_URL is set",
  ]);
  const sameHost = { GANTRY_FILES_URL: "https://gantry.test/files", GANTRY_PUBLIC_URL: "https://gantry.test" };
  expect(faultsOf(sameHost)).toEqual(["  GANTRY_FILES_URL must have a different host or port than GANTRY_PUBLIC_URL"]);
  expect(faultsOf({ OTEL_EXPORTER_OTLP_HEADERS: "authorization=x" })).toEqual([
    "  OTEL_EXPORTER_OTLP_ENDPOINT must be set because OTEL_EXPORTER_OTLP_HEADERS is set",
  ]);
});

test("values are trimmed, and an empty value counts as unset", () => {
  const config = readConfig(
    {
      ANTHROPIC_API_KEY: " sk-ant-1\n",
      GANTRY_LLM_URL: "\thttp://llm.test/v1/ \r\n",
      GANTRY_LLM_KEY: " \n",
      GANTRY_PUBLIC_URL: " https://gantry.test/ ",
      GANTRY_SECRET_KEY: `${Buffer.alloc(32).toString("base64")}\n`,
      GANTRY_METRICS_OPEN: "1 ",
      PORT: " ",
    },
    "/there",
  );
  expect(config).toMatchObject({
    ANTHROPIC_API_KEY: "sk-ant-1",
    GANTRY_LLM_URL: "http://llm.test/v1",
    GANTRY_LLM_KEY: undefined,
    GANTRY_PUBLIC_URL: "https://gantry.test",
    GANTRY_SECRET_KEY: Buffer.alloc(32).toString("base64"),
    GANTRY_METRICS_OPEN: true,
    PORT: 8080,
  });
});

test("values that a header cannot carry are refused at start", () => {
  const names = ["ANTHROPIC_API_KEY", "GANTRY_LLM_KEY", "S3_ACCESS_KEY_ID", "GANTRY_ADMIN_KEY", "GANTRY_METRICS_KEY"];
  for (const name of names) {
    for (const key of ["0123456789abcdef\n0123456789abcdef", "0123456789abcdef\t0123456789abcdef"]) {
      expect(faultsOf({ [name]: key })).toContain(`  ${name} must not contain line breaks or other control characters`);
    }
    for (const key of ["0123456789abcdef 0123456789abcdef", "0123456789abcdef–0123456789abcdef"]) {
      expect(faultsOf({ [name]: key })).toContain(
        `  ${name} must be printable ASCII without spaces, because it is sent in a header`,
      );
    }
  }
  expect(faultsOf({ S3_SECRET_ACCESS_KEY: "a\nb" })[0]).toMatch(
    /^ {2}S3_SECRET_ACCESS_KEY must not contain line breaks/,
  );
});

test("a base URL ends with its path", () => {
  const wrong: [address: string, fault: string][] = [
    ["https://me:secret@gantry.test", "must not contain a user or a password"],
    ["https://me@gantry.test", "must not contain a user or a password"],
    ["https://gantry.test/?a=1", "must not contain spaces, ? or #, because paths are appended to it"],
    ["https://gantry.test/#top", "must not contain spaces, ? or #, because paths are appended to it"],
    ["https://gantry.test/?", "must not contain spaces, ? or #, because paths are appended to it"],
    ["https://gantry.test/a b", "must not contain spaces, ? or #, because paths are appended to it"],
    ["https:gantry.test", "must be a URL that starts with http:// or https://"],
    ["gantry.test", "must be a URL that starts with http:// or https://"],
  ];
  for (const name of ["GANTRY_PUBLIC_URL", "GANTRY_LLM_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"]) {
    for (const [address, fault] of wrong) expect(faultsOf({ [name]: address })).toEqual([`  ${name} ${fault}`]);
    expect(faultsOf({ [name]: "https://gantry.test:8443/behind/a-path/" })).toEqual([]);
  }
});

test("connection URLs name one host and supported options", () => {
  for (const AMQP_URL of ["amqp://", "amqp:///", "amqps:///vhost"]) {
    expect(faultsOf({ AMQP_URL })).toEqual(["  AMQP_URL must name a host"]);
  }
  expect(faultsOf({ AMQP_URL: "amqps://me:secret@queue.test:5671/vhost?heartbeat=5" })).toEqual([]);
  const database = "postgres://me:secret@db.test:5432/gantry";
  for (const mode of ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]) {
    expect(faultsOf({ DATABASE_URL: `${database}?sslmode=${mode}` })).toEqual([]);
  }
  expect(faultsOf({ DATABASE_URL: `${database}?sslmode=bogus` })).toEqual([
    "  DATABASE_URL has sslmode=bogus. Use one of disable, allow, prefer, require, verify-ca, verify-full",
  ]);
  expect(faultsOf({ DATABASE_URL: "postgres:///gantry" })).toEqual([]);
  const notValid =
    "is not a valid URL. It has one host and a port up to 65535; in credentials, write / as %2F and % as %25";
  const wrong: [address: string, fault: string][] = [
    ["postgres://db.test/gantry#x", "must not contain #. In a password, write it as %23"],
    ["postgres://me:pa#ss@db.test/gantry", "must not contain #. In a password, write it as %23"],
    ["postgres://me:100%@db.test/gantry", notValid],
    ["postgres://me@%2Ftmp%2Fsocket/gantry", "must name one host before the path, not a socket"],
    ["postgres:///gantry?host=/tmp", "must name one host before the path, not a socket"],
    ...["postgres://me:p/w@db.test/gantry", "postgres://me@one:1,two:2/gantry", "postgres://db.test:99999/x"].map(
      (address): [string, string] => [address, notValid],
    ),
  ];
  wrong.push(
    ["postgres://one,two/gantry", "must name one host"],
    ["postgres:///gantry?host=db.test", "must name one host before the path, not a socket"],
    [`${database}?sslmode=require&sslcert=/c.pem`, "must have both sslcert and sslkey, or neither"],
    [
      `${database}?channel_binding=require`,
      "has channel_binding=require, which is not supported. Use sslmode=verify-full",
    ],
    ...["sslrootcert=/ca.pem", "sslmode=prefer&sslrootcert=/ca.pem", "sslmode=disable&sslrootcert=/ca.pem"].map(
      (query): [string, string] => [
        `${database}?${query}`,
        "has sslrootcert, which needs an sslmode of require, verify-ca, verify-full",
      ],
    ),
  );
  expect(faultsOf({ DATABASE_URL: `${database}?sslmode=require&sslrootcert=/ca.pem` })).toEqual([]);
  for (const [DATABASE_URL, fault] of wrong) expect(faultsOf({ DATABASE_URL })).toEqual([`  DATABASE_URL ${fault}`]);
});

test("settings that belong together are set together or not at all", () => {
  const s3 = { S3_ENDPOINT: "http://s3", S3_BUCKET: "bb", S3_ACCESS_KEY_ID: "k", S3_SECRET_ACCESS_KEY: "s" };
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ ...s3, GANTRY_LLM_URL: "http://llm" })).toEqual([]);
  // On AWS, the bucket alone is enough: the rest comes from the SDK's chain.
  expect(faultsOf({ S3_BUCKET: "bb" })).toEqual([]);
  expect(faultsOf({ S3_BUCKET: "bb", S3_ENDPOINT: "http://s3" })).toEqual([]);
  expect(faultsOf({ ...s3, S3_BUCKET: "My_bucket.1" })).toEqual([]);
  for (const S3_BUCKET of ["b", "a/b", "a b", "ä-bucket", "b".repeat(256)]) {
    expect(faultsOf({ ...s3, S3_BUCKET }), S3_BUCKET).toEqual([
      "  S3_BUCKET must be 2 to 255 letters, digits, dots, hyphens and underscores",
    ]);
  }
  for (const HOST of ["0.0.0.0", "::", "localhost", "fe80::1%eth0", "my-host.example"]) {
    expect(faultsOf({ HOST }), HOST).toEqual([]);
  }
});

const known = Object.keys(settings);
const warnings = (environment: Record<string, string>) => unknownSettings(environment, known);

test("a misspelt setting is reported with the closest name", () => {
  for (const [given, meant] of [
    ["GANTRY_ALOW_PRIVATE_NETWORK", "GANTRY_ALLOW_PRIVATE_NETWORK"],
    ["GANTRY_HOEM", "GANTRY_HOME"],
    ["GANTRY_HOMES", "GANTRY_HOME"],
    ["GANTRY_ADMINKEY", "GANTRY_ADMIN_KEY"],
    ["GANTRY_WORKERS_PARALLEL", "GANTRY_WORKER_PARALLEL"],
    ["GANTRY_COLOUR", undefined],
  ] as const) {
    const question = meant === undefined ? "" : ` Did you mean ${meant}?`;
    expect(warnings({ [given]: "secret" })).toEqual([`Unknown setting ${given}.${question}`]);
  }
});

test("a needless GANTRY_ prefix is reported", () => {
  expect(warnings({ GANTRY_PORT: "4240", GANTRY_HOST: "0.0.0.0", GANTRY_DATABASE_URL: "x" })).toEqual([
    "Unknown setting GANTRY_PORT. Did you mean PORT?",
    "Unknown setting GANTRY_HOST. Did you mean HOST?",
    "Unknown setting GANTRY_DATABASE_URL. Did you mean DATABASE_URL?",
  ]);
});

test("known, foreign, empty and Kubernetes variables are not reported", () => {
  expect(warnings(Object.fromEntries(known.map((name) => [name, "x"])))).toEqual([]);
  expect(
    warnings({ GANTRY_URL: "x", GANTRY_KEY: "x", GANTRY_TEAM: "x", PATH: "/bin", PROT: "1", GANTRY_NOTHING: " " }),
  ).toEqual([]);
  expect(
    warnings({
      GANTRY_PORT: "tcp://10.0.0.1:8080",
      GANTRY_SERVICE_HOST: "10.0.0.1",
      GANTRY_API_SERVICE_PORT_HTTP: "8080",
      GANTRY_PORT_8080_TCP_ADDR: "10.0.0.1",
    }),
  ).toEqual([]);
});

test("settings of sign-in", () => {
  const provider = { GANTRY_OIDC_ISSUER: "https://id.test/o/gantry/", GANTRY_OIDC_CLIENT_ID: "gantry" };
  const read = readConfig(
    {
      ...provider,
      GANTRY_SIGN_IN: " oidc, link ",
      GANTRY_OIDC_PLAN_GROUPS: "cn=heavy = pro,*=free",
      GANTRY_OIDC_ALLOWED_DOMAINS: "Example.com, other.test",
      GANTRY_TRUSTED_PROXIES: "10.0.0.0/8,::1",
    },
    "/tmp",
  );
  expect(read).toMatchObject({
    // A slash at the end is part of an issuer.
    GANTRY_OIDC_ISSUER: provider.GANTRY_OIDC_ISSUER,
    GANTRY_SIGN_IN: ["oidc", "link"],
    GANTRY_OIDC_ALLOWED_DOMAINS: ["example.com", "other.test"],
    GANTRY_OIDC_ADMIN_GROUPS: [],
    GANTRY_TRUSTED_PROXIES: [{ kind: "range" }, { kind: "range" }],
  });
  expect(read.GANTRY_OIDC_PLAN_GROUPS.at(-1)).toEqual({ group: "*", plan: "free" });
  expect(readConfig({}, "/tmp")).toMatchObject({ GANTRY_SIGN_IN: undefined, GANTRY_PASSWORD_MIN_LENGTH: 10 });
  expect(faultsOf({ GANTRY_SIGN_IN: "saml" })).toEqual([
    "  GANTRY_SIGN_IN must be some of link, key, password, oidc, separated by commas",
  ]);
  expect(faultsOf({ GANTRY_SIGN_IN: "," })).toHaveLength(1);
  expect(faultsOf({ GANTRY_SIGN_IN: "oidc" })).toEqual([
    "  GANTRY_OIDC_ISSUER must be set because GANTRY_SIGN_IN contains oidc",
  ]);
  expect(faultsOf({ GANTRY_OIDC_CLIENT_SECRET: "x" })).toEqual([
    "  GANTRY_OIDC_ISSUER must be set because GANTRY_OIDC_CLIENT_SECRET is set",
  ]);
  expect(faultsOf({ GANTRY_OIDC_ISSUER: provider.GANTRY_OIDC_ISSUER })).toHaveLength(1);
  const byMail = { ...provider, GANTRY_OIDC_USERNAME_CLAIM: "email", GANTRY_OIDC_LINK_USERS: "1" };
  const ambiguous: Record<string, string>[] = [{}, { GANTRY_OIDC_ALLOWED_DOMAINS: "a.test,b.test" }];
  for (const domains of ambiguous) {
    expect(faultsOf({ ...byMail, ...domains })).toEqual([expect.stringContaining("must name exactly one domain")]);
  }
  expect(readConfig({ ...byMail, GANTRY_OIDC_ALLOWED_DOMAINS: "a.test" }, "/tmp").GANTRY_OIDC_LINK_USERS).toBe(true);
  for (const GANTRY_TRUSTED_PROXIES of ["proxy.lan", "10.0.0.1:80", "1"]) {
    expect(faultsOf({ GANTRY_TRUSTED_PROXIES })).toEqual([
      "  GANTRY_TRUSTED_PROXIES must be IP addresses and networks, separated by commas",
    ]);
  }
  for (const GANTRY_OIDC_PLAN_GROUPS of ["pro", "=pro", "a="])
    expect(faultsOf({ GANTRY_OIDC_PLAN_GROUPS })).toHaveLength(1);
});
