import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import { cogCases } from "../test-upstreams/cog-cases.ts";
import { loadPredictor } from "../test-upstreams/cog-predictors.ts";
import { startCog } from "../test-upstreams/cog-server.ts";
import { type CogVersionName, cogVersions } from "../test-upstreams/cog-versions.ts";

const names = Object.keys(cogVersions) as CogVersionName[];

/** `scripts/cog-check` runs the same cases against a real server. */
describe.each(names)("Cog %s", (version) => {
  const cases = cogCases.filter(({ isSkippedIfBlocking }) => !(isSkippedIfBlocking && cogVersions[version].blocks));

  it.each(cases)("$name", async ({ predictor, expected, run }) => {
    const net = createNet({ allowPrivateNetwork: true });
    const spoolFolder = await mkdtemp(join(tmpdir(), "gantry-spool-"));
    const cog = await startCog(version);
    loadPredictor(cog, predictor);
    try {
      expect(await run({ url: cog.url, net, spoolFolder })).toEqual(expected);
    } finally {
      await net.close();
      await cog.close();
      await rm(spoolFolder, { recursive: true });
    }
  });
});
