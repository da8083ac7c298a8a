import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { testS3 } from "../../../test/support/s3.ts";
import type { SwiftNode } from "../../../test/support/swift-node.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { Fault } from "../../kernel/errors.ts";
import type { BlobStore } from "./blobs.ts";
import {
  type CredentialServer,
  type IssuedKeys,
  startContainerCredentials,
  startSts,
} from "./credential-servers.fixture.ts";
import { openS3Blobs, type S3Options } from "./s3.ts";

/** The server checks signatures, also those that cover a session token. It does not check the token itself. */
const server = await testS3();
const text = { contentType: "text/plain" };
const day = { base: "", expiresInSeconds: 86_400 };
let closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
});
afterAll(() => server?.stop());

const inSeconds = (seconds: number) => new Date(Math.ceil(Date.now() / 1000) * 1000 + seconds * 1000);

function keys(over: Partial<IssuedKeys> = {}): IssuedKeys {
  const { accessKeyId, secretAccessKey } = server as SwiftNode;
  return { accessKeyId, secretAccessKey, sessionToken: "Token/one+=", expiration: inSeconds(3600), ...over };
}

/** Without keys of its own. */
async function openByChain(over: Partial<S3Options> = {}): Promise<BlobStore> {
  const { endpoint, bucket, region } = server as SwiftNode;
  const store = await openS3Blobs({ endpoint, bucket, region, ...over });
  closers.push(() => store.close());
  return store;
}

function used(issuer: CredentialServer): CredentialServer {
  closers.push(() => issuer.close());
  return issuer;
}

async function byContainer(issued = keys()): Promise<CredentialServer> {
  const issuer = used(await startContainerCredentials(issued));
  process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = issuer.url;
  process.env.AWS_CONTAINER_AUTHORIZATION_TOKEN = "pod-token";
  return issuer;
}

const parameters = (url: string) => new URL(url).searchParams;

/** Stores, reads by link, uploads by link. */
async function roundTrip(store: BlobStore): Promise<URLSearchParams> {
  await store.put("chain/a", Buffer.from("by a role"), text);
  const { url } = await store.signGet("chain/a", { ...day, ...text });
  expect(await (await fetch(url)).text()).toBe("by a role");
  const put = await store.signPut("chain/b", day);
  expect((await fetch(put.url, { method: "PUT", body: "uploaded" })).status).toBe(200);
  expect(await store.stat("chain/b")).toMatchObject({ size: 8 });
  return parameters(url);
}

describe.skipIf(!server)("credentials of the SDK's chain", () => {
  test("keys of a container sign calls and links; a link ends with them and has their token", async () => {
    const issuer = await byContainer();
    const link = await roundTrip(await openByChain());
    expect(link.get("X-Amz-Security-Token")).toBe("Token/one+=");
    const seconds = Number(link.get("X-Amz-Expires"));
    expect(seconds).toBeLessThanOrEqual(3600);
    expect(seconds).toBeGreaterThan(3500);
    expect(issuer.asked).toEqual(["pod-token"]);
  });

  test("a web identity is exchanged at STS", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gantry-web-identity-"));
    closers.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "token"), "a.signed.jwt");
    const sts = used(await startSts(keys()));
    Object.assign(process.env, {
      AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, "token"),
      AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/gantry",
      AWS_ENDPOINT_URL_STS: sts.url,
    });
    const link = await roundTrip(await openByChain());
    expect(link.get("X-Amz-Security-Token")).toBe("Token/one+=");
    expect(Number(link.get("X-Amz-Expires"))).toBeLessThanOrEqual(3600);
    expect(sts.asked).toHaveLength(1);
    expect(sts.asked[0]).toContain("Action=AssumeRoleWithWebIdentity");
    expect(sts.asked[0]).toContain("a.signed.jwt");
    sts.keys = undefined;
    await expect(openByChain()).rejects.toThrow(/cannot be used: AccessDenied.*sts:AssumeRoleWithWebIdentity/);
  });

  test("keys in the environment and in shared files are found", async () => {
    const { accessKeyId, secretAccessKey } = keys();
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: "From/env",
    });
    expect((await roundTrip(await openByChain())).get("X-Amz-Security-Token")).toBe("From/env");
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
    const folder = await mkdtemp(join(tmpdir(), "gantry-shared-keys-"));
    closers.push(() => rm(folder, { recursive: true }));
    const lines = ["[gantry]", `aws_access_key_id = ${accessKeyId}`, `aws_secret_access_key = ${secretAccessKey}`];
    await writeFile(join(folder, "credentials"), lines.join("\n"));
    Object.assign(process.env, { AWS_PROFILE: "gantry", AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials") });
    const link = await roundTrip(await openByChain());
    expect([link.get("X-Amz-Security-Token"), link.get("X-Amz-Expires")]).toEqual([null, "86400"]);
  });

  test("explicit keys take precedence, with their session token", async () => {
    await byContainer(keys({ accessKeyId: "stranger" }));
    const { accessKeyId, secretAccessKey } = keys();
    const link = await roundTrip(await openByChain({ accessKeyId, secretAccessKey, sessionToken: "Own/token" }));
    expect([link.get("X-Amz-Security-Token"), link.get("X-Amz-Expires")]).toEqual(["Own/token", "86400"]);
  });

  test("keys that end are renewed: for calls, and early enough that links last", async () => {
    // The SDK asks again 5 minutes before the end; links do so at half of the life.
    const issuer = await byContainer(keys({ expiration: inSeconds(4) }));
    const store = await openByChain();
    await store.signGet("chain/a", { ...day, ...text });
    issuer.keys = keys({ sessionToken: "Token/two", expiration: inSeconds(7200) });
    const tokenOf = async () => parameters((await store.signGet("chain/a", { ...day, ...text })).url);
    await waitFor("the new keys", async () => (await tokenOf()).get("X-Amz-Security-Token") === "Token/two");
    expect(Number((await tokenOf()).get("X-Amz-Expires"))).toBeGreaterThan(7000);
    await roundTrip(store);
  });

  test("a link never outlives its keys", async () => {
    await byContainer(keys({ expiration: inSeconds(3) }));
    const store = await openByChain();
    await store.put("chain/short", Buffer.from("x"), text);
    const { url } = await store.signGet("chain/short", { ...day, ...text });
    const seconds = Number(parameters(url).get("X-Amz-Expires"));
    expect([1, 2, 3]).toContain(seconds);
    expect((await fetch(url)).status).toBe(200);
    await waitFor("its end", async () => (await fetch(url)).status === 403);
  });

  test("without keys, calls and links are a retryable 503 and the start says what is missing", async () => {
    const issuer = await byContainer(keys({ expiration: inSeconds(2) }));
    const store = await openByChain({ patienceMs: 8000 });
    issuer.keys = undefined;
    await waitFor("their end", async () => {
      const error = await store.signGet("chain/a", { ...day, ...text }).catch((thrown: unknown) => thrown);
      return error instanceof Fault && error.type === "service_unavailable" && error.retryable;
    });
    expect(await store.stat("chain/a").catch((error: Fault) => error.type)).toBe("service_unavailable");
    await expect(openByChain({ patienceMs: 8000 })).rejects.toThrow(/cannot be used: CredentialsProviderError/);
    issuer.keys = keys();
    await roundTrip(store);
  }, 90_000);

  test("names leave space for a token; a long token does not cut off stored files", async () => {
    const issuer = await byContainer(keys({ sessionToken: "t".repeat(900) }));
    const store = await openByChain();
    const link = (key: string) => store.signGet(key, { ...day, contentType: "application/octet-stream" });
    const name = `uploads/file_1/${"n".repeat(150)}.bin`;
    expect((await link(name)).url.length).toBeLessThanOrEqual(2083);
    await expect(link(`uploads/file_1/${"n".repeat(700)}.bin`)).rejects.toMatchObject({ type: "string_too_long" });
    issuer.keys = keys({ sessionToken: "t".repeat(2000) });
    const later = await openByChain();
    expect((await later.signGet(name, { ...day, ...text })).url.length).toBeGreaterThan(2083);
  });
});

test("the region is needed on AWS", async () => {
  process.env.AWS_CONFIG_FILE = "/nonexistent";
  process.env.AWS_EC2_METADATA_DISABLED = "true";
  await expect(openS3Blobs({ bucket: "gantry" })).rejects.toThrow("Set S3_REGION or AWS_REGION");
});
