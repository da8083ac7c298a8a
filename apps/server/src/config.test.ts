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
  expect(faultsOf({ PORT: "08080x", HOST: "a b", S3_BUCKET: "x", GANTRY_LLM_MODEL: "m" })).toEqual([
    expect.stringMatching(/^ {2}PORT must be/),
    "  HOST must be the name or the address of this machine",
    "  S3_ENDPOINT must be set, because S3_BUCKET is",
    "  S3_ACCESS_KEY_ID must be set, because S3_BUCKET is",
    "  S3_SECRET_ACCESS_KEY must be set, because S3_BUCKET is",
    "  GANTRY_LLM_URL must be set, because GANTRY_LLM_MODEL is",
  ]);
});

test("what belongs together may be set together, or not at all", () => {
  const s3 = { S3_ENDPOINT: "http://s3", S3_BUCKET: "b", S3_ACCESS_KEY_ID: "k", S3_SECRET_ACCESS_KEY: "s" };
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ ...s3, GANTRY_LLM_URL: "http://llm" })).toEqual([]);
  for (const HOST of ["0.0.0.0", "::", "localhost", "fe80::1%eth0", "my-host.example"]) {
    expect(faultsOf({ HOST }), HOST).toEqual([]);
  }
});
