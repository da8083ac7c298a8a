import { once } from "node:events";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createNet } from "./create-net.ts";
import { selfSigned } from "./self-signed.fixture.ts";

const server = https.createServer(selfSigned, (_, response) => response.end("safe"));
let url = "";

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `https://localhost:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => server.close());

it("trusts the operator's authority only if it is set", async () => {
  const trusting = createNet({ allowPrivateNetwork: true, ca: selfSigned.cert });
  const usual = createNet({ allowPrivateNetwork: true });
  try {
    expect(await (await trusting.request({ url })).body.text()).toBe("safe");
    await expect(usual.request({ url })).rejects.toMatchObject({ reason: "unreachable" });
  } finally {
    await Promise.all([trusting.close(), usual.close()]);
  }
});

it("still refuses private addresses, and names that are not in the certificate", async () => {
  const guarded = createNet({ allowPrivateNetwork: false, ca: selfSigned.cert });
  const open = createNet({ allowPrivateNetwork: true, ca: selfSigned.cert });
  try {
    await expect(guarded.request({ url })).rejects.toMatchObject({ reason: "address_refused" });
    const byNumber = url.replace("localhost", "127.0.0.1");
    await expect(open.request({ url: byNumber })).rejects.toMatchObject({ reason: "unreachable" });
  } finally {
    await Promise.all([guarded.close(), open.close()]);
  }
});
