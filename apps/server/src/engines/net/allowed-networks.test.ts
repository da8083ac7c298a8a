import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseNetworkEntry } from "../../kernel/network-entry.ts";
import { AllowedNetworks } from "./allowed-networks.ts";
import { createNet } from "./create-net.ts";

const listOf = (text: string) =>
  text.split(",").map((part) => parseNetworkEntry(part) ?? expect.fail(`${part} is not an entry`));

describe("a list of private networks", () => {
  it.each<[list: string, host: string, address: string, port: number, isAllowed: boolean]>([
    ["127.0.0.1:8188", "127.0.0.1", "127.0.0.1", 8188, true],
    ["127.0.0.1:8188", "127.0.0.1", "127.0.0.1", 8189, false],
    ["127.0.0.1", "localhost", "127.0.0.1", 1, true],
    ["127.0.0.1", "localhost", "0.0.0.0", 1, false],
    ["127.0.0.1", "localhost", "::1", 1, false],
    ["10.20.0.0/16", "gpu.lan", "10.20.3.4", 8000, true],
    ["10.20.0.0/16", "gpu.lan", "::ffff:10.20.3.4", 8000, true],
    ["10.20.0.0/16", "gpu.lan", "64:ff9b::10.20.3.4", 8000, false],
    ["10.20.0.0/16", "gpu.lan", "10.21.3.4", 8000, false],
    ["[fd00::]/8", "gpu.lan", "fd12::1", 8000, true],
    ["gpu.lan:8000", "gpu.lan", "192.168.1.9", 8000, true],
    ["gpu.lan:8000", "GPU.lan.", "192.168.1.9", 8000, true],
    ["gpu.lan:8000", "gpu.lan", "192.168.1.9", 8001, false],
    ["gpu.lan:8000", "other.lan", "192.168.1.9", 8000, false],
    ["gpu.lan:8000", "192.168.1.9", "192.168.1.9", 8000, false],
    ["gpu.lan", "example.com", "93.184.216.34", 443, true],
    // Credentials of the machine: only by the address itself.
    ["0.0.0.0/0", "m.test", "169.254.169.254", 80, false],
    ["169.254.0.0/16", "m.test", "169.254.169.254", 80, false],
    ["169.254.169.254", "m.test", "169.254.169.254", 80, true],
    ["169.254.169.254:80", "m.test", "::ffff:169.254.169.254", 80, true],
    ["169.254.169.254:80", "m.test", "169.254.169.254", 81, false],
    ["m.test", "m.test", "169.254.169.254", 80, false],
    ["[fd00::]/8", "m.test", "fd00:ec2::254", 80, false],
    ["[fd00::]/8", "m.test", "fd20:ce::254", 80, false],
    ["[fd00::]/8", "m.test", "fd00:c1::a9fe:a9fe", 80, false],
    ["[fd00::]/8", "m.test", "fd00:42::42", 80, false],
    ["[fd00::]/8", "m.test", "fd00:42::43", 80, true],
    ["[fd00::]/8", "m.test", "fd00:a9fe:a9fe::1", 80, false],
    ["[fd00::]/8", "m.test", "fd00:100::100:200", 80, false],
    ["0.0.0.0/0", "m.test", "168.63.129.16", 80, false],
    ["m.test", "m.test", "168.63.129.16", 80, false],
    ["168.63.129.16", "m.test", "168.63.129.16", 80, true],
    ["::/0", "m.test", "::ffff:168.63.129.16", 80, false],
    ["100.64.0.0/10", "m.test", "100.96.0.96", 80, false],
    ["100.64.0.0/10", "m.test", "100.100.100.200", 80, false],
    ["100.64.0.0/10", "m.test", "100.100.100.201", 80, true],
    ["::/0", "m.test", "::ffff:169.254.169.254", 80, false],
    ["::/0", "m.test", "64:ff9b::169.254.169.254", 80, false],
    ["::/0", "m.test", "2002:a9fe:a9fe::1", 80, false],
    ["::/0", "m.test", "::a9fe:a9fe", 80, false],
    ["::/0,m.test", "m.test", "fe80::1%eth0", 80, false],
  ])("%s: a call to %s that resolves to %s, port %i, is allowed: %s", (list, host, address, port, isAllowed) => {
    expect(new AllowedNetworks(listOf(list)).allows(address, { host, port })).toBe(isAllowed);
  });

  it("shows the entry to add", () => {
    const allowed = new AllowedNetworks([]);
    const text = (host: string, addresses?: string[]) => allowed.refusal({ host, port: 8000 }, addresses).message;
    expect(text("gpu.lan", ["10.0.0.1"])).toMatch(/add gpu\.lan:8000 to GANTRY_ALLOW_PRIVATE_NETWORK$/);
    expect(text("gpu.lan", ["10.0.0.1"])).not.toContain("10.0.0.1");
    expect(text("fd00::1")).toContain("add [fd00::1]:8000 to");
    expect(text("169.254.169.254", ["169.254.169.254"])).toContain("add 169.254.169.254:8000 to");
    expect(text("m.test", ["169.254.169.254"])).toContain("only by its IP address in GANTRY_ALLOW_PRIVATE_NETWORK");
  });
});

describe("calls", () => {
  const server = http.createServer((request, response) => {
    if (request.url === "/away") response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    else response.end("inside");
  });
  let port = 0;
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => server.close());

  it("reach what the list allows, and nothing else", async () => {
    const refused = { name: "AddressRefused", reason: "address_refused" };
    for (const [list, open, closed] of [
      [`127.0.0.1:${port}`, ["127.0.0.1", "localhost"], []],
      [`localhost:${port}`, ["localhost", "LOCALHOST"], ["127.0.0.1"]],
      ["127.0.0.0/8", ["127.0.0.1", "localhost"], []],
      [`127.0.0.1:${port + 1},10.0.0.0/8`, [], ["127.0.0.1", "localhost"]],
    ] as const) {
      const net = createNet({ allowPrivateNetwork: listOf(list) });
      try {
        for (const host of open) {
          const { body } = await net.request({ url: `http://${host}:${port}/` });
          expect(await body.text(), `${list} ${host}`).toBe("inside");
        }
        for (const host of closed) {
          const call = net.request({ url: `http://${host}:${port}/` });
          await expect(call, `${list} ${host}`).rejects.toMatchObject(refused);
        }
      } finally {
        await net.close();
      }
    }
  });

  it("check the target of a redirect against the list", async () => {
    const net = createNet({ allowPrivateNetwork: listOf(`localhost:${port}`) });
    try {
      const limits = { maxBytes: 100 };
      const followed = net.download(`http://localhost:${port}/away`, limits);
      await expect(followed).rejects.toThrow(`add 127.0.0.1:${port} to GANTRY_ALLOW_PRIVATE_NETWORK`);
    } finally {
      await net.close();
    }
  });
});
