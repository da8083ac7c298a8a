import { afterAll, afterEach, expect, test } from "vitest";
import {
  type CredentialServer,
  startContainerCredentials,
} from "../../src/engines/blobs/credential-servers.fixture.ts";
import { startProxy } from "../../src/engines/net/egress-proxy.fixture.ts";
import { startGantry } from "../support/gantry.ts";
import { testS3 } from "../support/s3.ts";

/** Files in a bucket that is reached with the credentials of a role, and through the company's proxy. */
const s3 = await testS3();
let issuer: CredentialServer | undefined;

afterEach(() => {
  issuer?.close();
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
});
afterAll(() => s3?.stop());

test.skipIf(!s3)("a role's credentials store files, and their links say how long they are valid", async () => {
  if (!s3) return;
  const { accessKeyId, secretAccessKey } = s3;
  const expiration = new Date(Date.now() + 3_600_000);
  issuer = await startContainerCredentials({ accessKeyId, secretAccessKey, sessionToken: "Role/token", expiration });
  process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = issuer.url;
  const proxy = await startProxy();
  proxy.target = Number(new URL(s3.endpoint).port);
  const outside = "http://store.invalid";
  const gantry = await startGantry({
    env: {
      S3_ENDPOINT: outside,
      S3_PUBLIC_ENDPOINT: s3.endpoint,
      S3_BUCKET: s3.bucket,
      S3_REGION: s3.region,
      HTTP_PROXY: proxy.address,
    },
  });
  try {
    const made = await gantry.call("GET", "/api/v1/gantry/image/upload_url?filename=a.txt");
    expect(made.status, made.text).toBe(200);
    const { url, file_input } = made.body;
    expect(new URL(url).searchParams.get("X-Amz-Security-Token")).toBe("Role/token");
    expect(file_input.expires_in).toBeGreaterThan(3000);
    expect(file_input.expires_in).toBeLessThanOrEqual(3600);
    expect((await fetch(url, { method: "PUT", body: "by a link" })).status).toBe(200);

    const form = new FormData();
    form.set("file", new Blob(["through the proxy"]), "b.txt");
    const stored = await gantry.call("POST", "/api/v1/gantry/image/upload_file", { form });
    expect(stored.status, stored.text).toBe(200);
    expect(await (await fetch(stored.body.url)).text()).toBe("through the proxy");
    expect(proxy.asked.length).toBeGreaterThan(0);
    expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set(["store.invalid:80"]));
  } finally {
    await gantry.close();
    proxy.close();
  }
});
