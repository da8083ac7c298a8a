import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CogServer, startCog } from "../../src/engines/models/test-upstreams/cog-server.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { gantryCommand } from "../support/gantry-command.ts";
import { chatModel, cogModel, createModels, object, text } from "../support/models.ts";

// Results on stdout, as other programs read them.

let gantry: GantryNode;
let cog: CogServer;
/** The fragments of each answer. */
let fragments: string[];
const chat = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (data: object) => response.write(`data: ${JSON.stringify(data)}\n\n`);
    for (const content of fragments) send({ choices: [{ index: 0, delta: { content } }] });
    send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    response.end("data: [DONE]\n\n");
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => chat.listen(0, "127.0.0.1", resolve));
  cog = await startCog();
  gantry = await startGantry();
  const paper = { type: "string", format: "binary", "x-media": "file" };
  await createModels(gantry, {
    papers: cogModel(cog.url, { output: object({ caption: text, paper }) }),
    chat: chatModel(`http://127.0.0.1:${(chat.address() as AddressInfo).port}/v1`),
  });
});
afterAll(async () => {
  await gantry?.close();
  await cog?.close();
  chat.closeAllConnections();
  chat.close();
});

const predict = (...args: string[]) =>
  gantryCommand(["predict", ...args], { GANTRY_URL: gantry.url, GANTRY_KEY: gantry.adminKey });

test("stdout has the bytes of a file alone, and stderr the values beside it", async () => {
  const content = "The text of the paper.";
  cog.output = { caption: "A paper", paper: `data:text/plain;base64,${Buffer.from(content).toString("base64")}` };
  const { code, stdout, stderr } = await predict("admin/papers", "prompt=x", "--out", "-");
  expect([code, stdout], stderr).toEqual([0, content]);
  expect(stderr).toMatch(/^A paper\npred_\w+/);
});

test.each([["a word"], ["a line\n"], ["\n"]])("a text that ends with %j is written to stdout once", async (last) => {
  fragments = ["Begin, ", last];
  const shown = `Begin, ${last}`;
  const streamed = await predict("admin/chat", "prompt=x", "--stream", "--out", "-");
  expect([streamed.code, streamed.stdout], streamed.stderr).toEqual([0, shown.endsWith("\n") ? shown : `${shown}\n`]);
  expect((await predict("admin/chat", "prompt=x", "--out", "-")).stdout).toBe(`${shown}\n`);
});
