import { tmpdir } from "node:os";
import type { BackendConfig, Manifest } from "@gantry/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import { createDriver } from "../create-driver.ts";
import { providerScripts } from "../test-upstreams/providers/all-providers.ts";
import { type ProviderServer, startProvider } from "../test-upstreams/providers/provider-server.ts";
import { backendFor, discoverModels } from "./providers.ts";

const key = "sk-real-4711";
const signal = new AbortController().signal;
/** The calls that drivers make. */
const modelCall = /\/(?:chat\/completions|messages|embeddings|images\/generations|[^/]+:streamGenerateContent)$/;

/** What a provider lists must be callable with the backend that an import stores. */
describe.each(providerScripts)("a model of $type", (script) => {
  let net: Net;
  let server: ProviderServer;
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    server = await startProvider(script, key);
  });
  afterEach(async () => {
    await net.close();
    await server.close();
  });

  it("is called at an address that the server has, with the key that it wants", async () => {
    const provider = { type: script.type, url: server.url + script.address, secret: "KEY" };
    const models = await discoverModels(net, { ...provider, key, headers: {}, query: {} }, { signal });
    server.refused.length = 0;
    for (const model of models) {
      const backend = backendFor(provider, model) as BackendConfig;
      const manifest = {
        title: "m",
        kind: model.kind,
        backend,
        input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
        output: { type: "object", properties: { output: { type: "string", isStream: true } } },
      };
      const driver = createDriver(manifest as unknown as Manifest, backend, {
        net,
        key: backend.secret === undefined ? undefined : key,
        secrets: new Map([["KEY", key]]),
        spoolFolder: tmpdir(),
        builtins: {},
      });
      const before = server.seen.length;
      const call = { predictionId: "pred_1", signal, onFragment() {} };
      if (model.kind === "text") {
        const { output } = await driver.run({ ...call, input: { prompt: "Hi" } });
        expect(output, model.id).toEqual({ output: "Hello" });
      } else if (model.kind === "embedding") {
        const answer = await driver.embed?.({ ...call, texts: ["Hi"] });
        expect(answer?.vectors, model.id).toEqual([new Float32Array([0.5])]);
      } else {
        // The bytes of the answer are not a picture; what counts is that the call arrived.
        await driver.run({ ...call, input: { prompt: "Hi" } }).catch(() => {});
      }
      expect(server.seen.length, model.id).toBeGreaterThan(before);
      expect(server.seen.at(-1)?.path.split("?")[0]).toMatch(modelCall);
    }
    expect(server.refused).toEqual([]);
  });
});
