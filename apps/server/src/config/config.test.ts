import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const faultsOf = (environment: Record<string, string>): string[] => {
  try {
    readConfig(environment, "/there");
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").slice(1);
  }
};

test("every wrong setting is told at once", () => {
  expect(faultsOf({ PORT: "08080x", HOST: "a b", S3_BUCKET: "xx", GANTRY_LLM_MODEL: "m" })).toEqual([
    expect.stringMatching(/^ {2}PORT must be/),
    "  HOST must be the name or the address of this machine",
    "  S3_ENDPOINT must be set, because S3_BUCKET is",
    "  S3_ACCESS_KEY_ID must be set, because S3_BUCKET is",
    "  S3_SECRET_ACCESS_KEY must be set, because S3_BUCKET is",
    "  GANTRY_LLM_URL must be set, because GANTRY_LLM_MODEL is",
  ]);
  expect(faultsOf({ S3_PUBLIC_ENDPOINT: "https://files.test" })).toEqual(
    ["S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"].map(
      (name) => `  ${name} must be set, because S3_PUBLIC_ENDPOINT is`,
    ),
  );
  expect(faultsOf({ GANTRY_FILES_URL: "https://files.test" })).toEqual([
    "  GANTRY_PUBLIC_URL must be set, because GANTRY_FILES_URL is",
  ]);
  const sameHost = { GANTRY_FILES_URL: "https://gantry.test/files", GANTRY_PUBLIC_URL: "https://gantry.test" };
  expect(faultsOf(sameHost)).toEqual(["  GANTRY_FILES_URL must have another host or port than GANTRY_PUBLIC_URL"]);
  expect(faultsOf({ OTEL_EXPORTER_OTLP_HEADERS: "authorization=x" })).toEqual([
    "  OTEL_EXPORTER_OTLP_ENDPOINT must be set, because OTEL_EXPORTER_OTLP_HEADERS is",
  ]);
});

test("blanks and line breaks around a value are nobody's wish, and one of nothing else is not set", () => {
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

test("what no header can carry is refused at the start, under the setting's name", () => {
  const names = ["ANTHROPIC_API_KEY", "GANTRY_LLM_KEY", "S3_ACCESS_KEY_ID", "GANTRY_ADMIN_KEY", "GANTRY_METRICS_KEY"];
  for (const name of names) {
    for (const key of ["0123456789abcdef\n0123456789abcdef", "0123456789abcdef\t0123456789abcdef"]) {
      expect(faultsOf({ [name]: key })).toContain(`  ${name} must not hold a line break or another control character`);
    }
    for (const key of ["0123456789abcdef 0123456789abcdef", "0123456789abcdef–0123456789abcdef"]) {
      expect(faultsOf({ [name]: key })).toContain(
        `  ${name} must be printable ASCII without spaces, as it travels in a header`,
      );
    }
  }
  // Whatever the setting is: no text of one line means two.
  expect(faultsOf({ S3_SECRET_ACCESS_KEY: "a\nb" })[0]).toMatch(/^ {2}S3_SECRET_ACCESS_KEY must not hold a line break/);
});

test("an address that others are put behind ends with its path", () => {
  const wrong: [address: string, fault: string][] = [
    ["https://me:secret@gantry.test", "must not hold a user or a password"],
    ["https://me@gantry.test", "must not hold a user or a password"],
    ["https://gantry.test/?a=1", "must not hold ? or #: what it leads to is put behind it"],
    ["https://gantry.test/#top", "must not hold ? or #: what it leads to is put behind it"],
    ["https://gantry.test/?", "must not hold ? or #: what it leads to is put behind it"],
    ["https://gantry.test/a b", "must not hold blanks"],
    ["https:gantry.test", "must be an address that begins with http:// or https://"],
    ["gantry.test", "must be an address that begins with http:// or https://"],
  ];
  for (const name of ["GANTRY_PUBLIC_URL", "GANTRY_LLM_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"]) {
    for (const [address, fault] of wrong) expect(faultsOf({ [name]: address })).toEqual([`  ${name} ${fault}`]);
    expect(faultsOf({ [name]: "https://gantry.test:8443/behind/a-path/" })).toEqual([]);
  }
});

test("an engine's address names a host where it must, and only what there is", () => {
  for (const AMQP_URL of ["amqp://", "amqp:///", "amqps:///vhost"]) {
    expect(faultsOf({ AMQP_URL })).toEqual(["  AMQP_URL must name a host"]);
  }
  expect(faultsOf({ AMQP_URL: "amqps://me:secret@queue.test:5671/vhost?heartbeat=5" })).toEqual([]);
  const database = "postgres://me:secret@db.test:5432/gantry";
  for (const mode of ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]) {
    expect(faultsOf({ DATABASE_URL: `${database}?sslmode=${mode}` })).toEqual([]);
  }
  expect(faultsOf({ DATABASE_URL: `${database}?sslmode=bogus` })).toEqual([
    "  DATABASE_URL has sslmode=bogus, which must be one of disable, allow, prefer, require, verify-ca, verify-full",
  ]);
  expect(faultsOf({ DATABASE_URL: "postgres:///gantry" })).toEqual([]);
  const wrong: [address: string, fault: string][] = [
    ["postgres://db.test/gantry#x", "must not hold #: in a password write it as %23"],
    ["postgres://me:pa#ss@db.test/gantry", "must not hold #: in a password write it as %23"],
    ["postgres://me:100%@db.test/gantry", "has a % that begins no code: write it as %25"],
    ["postgres://me@%2Ftmp%2Fsocket/gantry", "names a socket: name a host instead"],
    ["postgres:///gantry?host=/tmp", "names a socket: name a host instead"],
    ...["postgres://me:p/w@db.test/gantry", "postgres://me@one:1,two:2/gantry", "postgres://db.test:99999/x"].map(
      (address): [string, string] => [
        address,
        "is no address: it has one host, a port up to 65535, and in a user or password / is written as %2F",
      ],
    ),
  ];
  wrong.push(
    ["postgres://one,two/gantry", "names several hosts: name one"],
    ["postgres:///gantry?host=db.test", "has host=, which must stand before the path instead"],
    [`${database}?sslmode=require&sslmode=disable`, "has sslmode more than once"],
    [`${database}?sslmode=require&sslcert=/c.pem`, "has one of sslcert and sslkey without the other"],
    [
      `${database}?channel_binding=require`,
      "has channel_binding=require, which Gantry cannot do: use sslmode=verify-full, which proves the server too",
    ],
    ...["sslrootcert=/ca.pem", "sslmode=prefer&sslrootcert=/ca.pem", "sslmode=disable&sslrootcert=/ca.pem"].map(
      (query): [string, string] => [
        `${database}?${query}`,
        "has sslrootcert, which is of use only with an sslmode of require, verify-ca, verify-full",
      ],
    ),
  );
  expect(faultsOf({ DATABASE_URL: `${database}?sslmode=require&sslrootcert=/ca.pem` })).toEqual([]);
  for (const [DATABASE_URL, fault] of wrong) expect(faultsOf({ DATABASE_URL })).toEqual([`  DATABASE_URL ${fault}`]);
});

test("what belongs together may be set together, or not at all", () => {
  const s3 = { S3_ENDPOINT: "http://s3", S3_BUCKET: "bb", S3_ACCESS_KEY_ID: "k", S3_SECRET_ACCESS_KEY: "s" };
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ ...s3, GANTRY_LLM_URL: "http://llm" })).toEqual([]);
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
