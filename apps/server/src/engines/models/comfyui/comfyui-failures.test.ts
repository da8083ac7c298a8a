import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNet } from "../../net/create-net.ts";
import type { Net } from "../../net/net.ts";
import { type InputValue, Interrupted, type ModelCall } from "../driver.ts";
import { createMask } from "../mask.ts";
import { bytesOf, callWith, faultOf, imageField, inputFields, png, secret } from "../media/backend.contract.ts";
import { type ComfyServer, startComfyui } from "../test-upstreams/comfyui-server.ts";
import { jsonReply } from "../test-upstreams/scripted-server.ts";
import { UpstreamError } from "../upstream.ts";
import { createComfyui } from "./comfyui.ts";
import type { ComfyBackend } from "./prompt.ts";
import { textToImage } from "./workflow.fixture.ts";

let net: Net;
let upstream: ComfyServer;

describe("comfyui", () => {
  beforeEach(async () => {
    net = createNet({ allowPrivateNetwork: true });
    upstream = await startComfyui(secret);
    upstream.made.bytes = png;
  });
  afterEach(async () => {
    await net.close();
    await upstream.close();
  });

  const run = (
    input: Record<string, InputValue> = {},
    more: Partial<ComfyBackend> = {},
    call: Partial<ModelCall> = {},
  ) =>
    createComfyui({
      net,
      url: upstream.url,
      key: secret,
      mask: createMask([secret]),
      input: inputFields,
      output: imageField,
      spoolFolder: tmpdir(),
      workflow: textToImage,
      inputs: { prompt: "6.text", seed: "3.seed", size: "5.width", options: "4.ckpt_name" },
      outputs: { image: "9" },
      ...more,
    }).run(callWith({ prompt: "a boat", ...input }, call));
  const posts = () => upstream.seen.filter(({ method }) => method === "POST").map(({ path }) => path);
  const another = () => ({
    ...textToImage,
    "6": { class_type: "CLIPTextEncode", inputs: { text: "other", clip: ["4", 1] } },
  });

  describe("a refused workflow", () => {
    it("is a 422 that names our inputs, in our words", async () => {
      const refusal = await faultOf(run({ seed: -1, size: "20000", options: "stolen.ckpt" }));
      expect(refusal.status).toBe(422);
      expect(refusal.issues).toEqual([
        { type: "greater_than_equal", loc: ["body", "seed"], msg: "The number must be at least 0.", ctx: { ge: 0 } },
        { type: "value_error", loc: ["body", "options"], msg: "The model does not accept this value." },
        {
          type: "less_than_equal",
          loc: ["body", "size"],
          msg: "The number must be at most 16384.",
          ctx: { le: 16384 },
        },
      ]);
      await sleep(50);
      expect(posts()).toEqual(["/prompt"]);
    });

    it("is understood if the server reports many errors", async () => {
      const small = { class_type: "EmptyLatentImage", inputs: { width: 1, height: 1, batch_size: 0 } };
      const nodes = Array.from({ length: 500 }, (_, n) => `1${String(n).padStart(3, "0")}`);
      const latents = Object.fromEntries(nodes.map((id) => [id, small]));
      const links = Object.fromEntries(nodes.map((id) => [`image_${id}`, [id, 0]]));
      const save = { class_type: "SaveImage", inputs: { ...textToImage["9"]?.inputs, ...links } };
      const bound = { prompt: "6.text", seed: "1499.batch_size" };
      const { issues } = await faultOf(
        run({ seed: 0 }, { workflow: { ...textToImage, ...latents, "9": save }, inputs: bound }),
      );
      expect(issues).toMatchObject([{ type: "greater_than_equal", loc: ["body", "seed"] }]);
    });

    it("is the model's failure at a field that is not bound", async () => {
      const workflow = {
        ...textToImage,
        "4": { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: "gone.ckpt" } },
      };
      const refusal = await faultOf(run({}, { workflow, inputs: { prompt: "6.text" } }));
      expect(refusal).toMatchObject({ type: "downstream_service_error", status: 502 });
      expect(refusal.issues[0].msg).toBe(
        "The service behind the model refused the workflow at node 4 (CheckpointLoaderSimple), field ckpt_name. " +
          "Change the workflow or that server.",
      );
      expect(JSON.stringify(refusal.issues)).not.toContain("/srv/models");
    });

    it("names a node that the server does not have", async () => {
      const workflow = { ...textToImage, "9": { class_type: "FancySave", inputs: { images: ["8", 0] } } };
      const { issues } = await faultOf(run({}, { workflow, inputs: { prompt: "6.text" } }));
      expect(issues[0].msg).toBe("The service behind the model does not have the node FancySave. Install it there.");
    });

    it("fails if only other outputs are valid, and is withdrawn", async () => {
      upstream.runMs = 2000;
      const preview = { class_type: "PreviewImage", inputs: { images: ["4", 2] } };
      const workflow = { ...textToImage, "20": preview };
      const refusal = await faultOf(run({ seed: -1 }, { workflow }));
      expect(refusal.issues).toMatchObject([{ loc: ["body", "seed"] }]);
      await expect.poll(() => upstream.interrupted.length).toBe(1);
    });

    it("runs if the outputs of the model are valid", async () => {
      const workflow = { ...textToImage, "20": { class_type: "SaveImage", inputs: { images: ["8", 0] } } };
      await bytesOf((await run({}, { workflow })).output.image);
    });
  });

  describe("a failed run", () => {
    const failing = (exception_type: string, exception_message: string) => ({
      event: "execution_error" as const,
      data: { node_id: "3", node_type: "KSampler", exception_type, exception_message, traceback: ["/srv/comfy"] },
    });

    it("is a 502 without the server's text", async () => {
      upstream.failure = failing("RuntimeError", `/srv/models ${secret}`);
      const refusal = await faultOf(run());
      expect(refusal).toMatchObject({ type: "downstream_service_error", retryable: false });
      expect(refusal.issues[0].msg).toBe("The workflow behind the model failed in node 3 (KSampler).");
      expect(refusal.cause).toBeInstanceOf(UpstreamError);
      expect((refusal.cause as UpstreamError).details).toContain("/srv/models");
      expect((refusal.cause as UpstreamError).details).not.toContain("0123456789");
    });

    it.each([
      ["torch.OutOfMemoryError", "Allocation on device 0 would exceed allowed memory."],
      ["RuntimeError", "CUDA error: out of memory"],
    ])("says that the memory did not suffice: %s", async (type, message) => {
      upstream.failure = failing(type, message);
      const { issues } = await faultOf(run());
      expect(issues[0].msg).toBe(
        "The service behind the model ran out of memory in node 3 (KSampler). Ask for a smaller output.",
      );
    });

    it("can be repeated if a user of the server stopped it", async () => {
      upstream.failure = { event: "execution_interrupted", data: { node_id: "3" } };
      expect(await faultOf(run())).toMatchObject({ type: "downstream_service_unavailable", retryable: true });
    });

    it("can be repeated if the server restarted", async () => {
      upstream.runMs = 5000;
      const running = run();
      await expect.poll(() => upstream.running).toBeDefined();
      upstream.restart();
      const refusal = await faultOf(running);
      expect(refusal).toMatchObject({ type: "downstream_service_unavailable", retryable: true });
      expect(refusal.issues[0].msg).toContain("has lost the run");
    });

    it("can be repeated if the server is gone", async () => {
      upstream.runMs = 5000;
      const running = run();
      await expect.poll(() => upstream.running).toBeDefined();
      await upstream.close();
      expect(await faultOf(running)).toMatchObject({ type: "downstream_service_unavailable", retryable: true });
    }, 15_000);

    it.each([
      ["an endless history", { kind: "endless", piece: " ".repeat(65_536) } as const],
      ["no JSON", { kind: "reply", reply: { status: 200, headers: {}, body: "<html>" } } as const],
    ])("is a 502 after %s, and is withdrawn", async (_name, oddity) => {
      upstream.runMs = 5000;
      upstream.odd.poll.push(oddity);
      expect((await faultOf(run())).type).toBe("downstream_service_error");
      await expect.poll(() => upstream.interrupted.length).toBe(1);
    });

    it("is not lost if the queue is too long to be read", async () => {
      upstream.runMs = 500;
      upstream.odd.poll.push(reply({}), { kind: "endless", piece: " ".repeat(65_536) });
      await bytesOf((await run()).output.image);
    });

    const reply = (value: unknown) => ({ kind: "reply" as const, reply: jsonReply(value) });
  });

  describe("an aborted run", () => {
    async function aborted(when: () => unknown, more: { after?: () => void } = {}): Promise<unknown> {
      const stop = new AbortController();
      const running = run({}, {}, { signal: stop.signal });
      running.catch(() => {});
      await expect.poll(when, { interval: 5 }).toBeTruthy();
      more.after?.();
      stop.abort(new Error("the client left"));
      return running.catch((error: unknown) => error);
    }
    /** The driver has read the queue, and polls again. */
    const asked = () => {
      const at = upstream.seen.findIndex(({ path }) => path === "/queue");
      return at >= 0 && upstream.seen.slice(at).some(({ path }) => path.startsWith("/history/"));
    };

    it("is interrupted by its id, and charged from its start", async () => {
      upstream.runMs = 5000;
      const error = await aborted(() => upstream.running && asked());
      const id = upstream.running?.id;
      expect(error).toBeInstanceOf(Interrupted);
      expect((error as Interrupted).waitedMs).toBeLessThan(1000);
      await expect.poll(() => upstream.interrupted).toEqual([id]);
    });

    it("is deleted from the queue if it waits, and costs nothing", async () => {
      upstream.runMs = 5000;
      const foreign = upstream.addForeign(another());
      const error = await aborted(() => upstream.waiting.length === 1 && asked());
      await sleep(50);
      expect((error as Interrupted).waitedMs).toBe(Number.POSITIVE_INFINITY);
      await expect.poll(() => posts().includes("/interrupt")).toBe(true);
      expect(upstream.waiting).toHaveLength(0);
      expect(upstream.interrupted).toEqual([]);
      expect(upstream.running?.id).toBe(foreign);
    });

    it.each([
      ["another prompt runs", 1, 0, false],
      ["another prompt waits", 0, 1, false],
      ["it is alone", 0, 0, true],
    ])(
      "on an old server is interrupted only if no other prompt can be hit: %s",
      async (_name, before, after, isHit) => {
        Object.assign(upstream, { version: "0.3.40", runMs: 3000 });
        for (let n = 0; n < before; n++) upstream.addForeign(another());
        await aborted(() => upstream.running && asked() && (before === 0 || upstream.waiting.length === 1), {
          after: () => {
            for (let n = 0; n < after; n++) upstream.addForeign(another());
          },
        });
        await expect.poll(() => posts().includes("/queue")).toBe(true);
        await sleep(300);
        expect(upstream.interrupted).toHaveLength(isHit ? 1 : 0);
        expect(posts().includes("/interrupt")).toBe(isHit);
        expect(upstream.waiting).toHaveLength(after);
      },
    );

    it("is found and withdrawn if the answer to its submission never came", async () => {
      upstream.runMs = 5000;
      upstream.odd.call.push({ kind: "mute" });
      const error = await aborted(() => upstream.running);
      expect((error as Interrupted).waitedMs).toBe(Number.POSITIVE_INFINITY);
      await expect.poll(() => upstream.interrupted.length).toBe(1);
    });
  });

  describe("time", () => {
    /** By the server's clock. */
    function reportedMs(): number {
      const entry = [...upstream.history.values()].at(-1) as {
        status: { messages: [string, { timestamp: number }][] };
      };
      const { messages } = entry.status;
      return (messages.at(-1)?.[1].timestamp ?? 0) - (messages[0]?.[1].timestamp ?? 0);
    }

    it.each([0, 1])("is that of the run itself, without polls and %i prompts of other clients", async (foreign) => {
      upstream.runMs = 1600;
      for (let n = 0; n < foreign; n++) upstream.addForeign(another());
      const startedAt = performance.now();
      const { output, waitedMs = 0 } = await run();
      const chargedMs = performance.now() - startedAt - waitedMs;
      await bytesOf(output.image);
      expect(reportedMs()).toBeGreaterThanOrEqual(1590);
      expect(Math.abs(chargedMs - reportedMs())).toBeLessThan(300);
      expect(waitedMs).toBeGreaterThan(foreign * 1500);
    });
  });
});
