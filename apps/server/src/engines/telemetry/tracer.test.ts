import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fault } from "../../kernel/errors.ts";
import { createNet } from "../net/create-net.ts";
import type { Net } from "../net/net.ts";
import { noTelemetry } from "./telemetry.ts";
import { traceNet } from "./traced-net.ts";
import { createTracer, type FinishedSpan } from "./tracer.ts";

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const named = (name: string) => () => ({ name });

function tracing(ratio = 1) {
  const spans: FinishedSpan[] = [];
  const tracer = createTracer({ add: (span) => void spans.push(span) }, ratio);
  return { tracer, spans, byName: (name: string) => spans.find((span) => span.name === name) };
}

it("nests spans under each other and the caller's, also in parallel", async () => {
  const { tracer, byName } = tracing();
  const activity = tracer.begin(parent, "v=1");
  await tracer.within(activity, () =>
    tracer.inSpan(named("outer"), async () => {
      await Promise.all(
        ["left", "right"].map((name) =>
          tracer.inSpan(named(name), async () => {
            await sleep(5);
            await tracer.inSpan(named(`${name} inner`), async () => {
              expect(tracer.tracestate()).toBe("v=1");
            });
          }),
        ),
      );
    }),
  );
  tracer.end(activity, { name: "root", kind: "server", from: 0, attributes: {}, failure: undefined });
  const under = (name: string) => byName(name)?.context.parentSpanId;
  const idOf = (name: string) => byName(name)?.context.spanId;
  expect(under("root")).toBe("00f067aa0ba902b7");
  expect(under("outer")).toBe(idOf("root"));
  expect(under("left")).toBe(idOf("outer"));
  expect(under("right")).toBe(idOf("outer"));
  expect(under("left inner")).toBe(idOf("left"));
  expect(under("right inner")).toBe(idOf("right"));
  for (const name of ["root", "left inner"])
    expect(byName(name)?.context.traceId).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
});

it("continues a trace from a passed traceparent", async () => {
  const { tracer, byName } = tracing();
  let handedOn: string | undefined;
  await tracer.within(tracer.begin(undefined, undefined), () =>
    tracer.inSpan(named("here"), async () => {
      handedOn = tracer.traceparent();
    }),
  );
  await tracer.within(tracer.resumed(handedOn), () => tracer.inSpan(named("there"), async () => {}));
  expect(byName("there")?.context.parentSpanId).toBe(byName("here")?.context.spanId);
  expect(byName("there")?.context.traceId).toBe(byName("here")?.context.traceId);
});

it("marks failures by their type, never their text", async () => {
  const { tracer, spans } = tracing();
  const work = tracer.within(tracer.begin(parent, undefined), () =>
    tracer.inSpan(named("work"), async () => {
      throw fault("downstream_service_error", "a prompt that was quoted");
    }),
  );
  await expect(work).rejects.toThrow("quoted");
  expect(spans[0]?.failure).toBe("downstream_service_error");
  expect(JSON.stringify(spans)).not.toContain("quoted");
});

it("follows the decision of the caller or the ratio, and passes it on", async () => {
  const { tracer, spans } = tracing(0);
  const unsampled = parent.replace(/01$/, "00");
  for (const header of [unsampled, undefined]) {
    await tracer.within(tracer.begin(header, undefined), () =>
      tracer.inSpan(named("work"), async () => {
        expect(tracer.traceparent()).toMatch(header === undefined ? /-00$/ : new RegExp(`^${unsampled}$`));
      }),
    );
  }
  expect(spans).toEqual([]);
});

it("without a collector passes the caller's trace on and records nothing", async () => {
  const tracer = createTracer(undefined, 1);
  await tracer.within(tracer.begin(parent, undefined), () =>
    tracer.inSpan(named("work"), async () => expect(tracer.traceparent()).toBe(parent)),
  );
  await tracer.within(tracer.begin(undefined, undefined), async () => expect(tracer.traceparent()).toBeUndefined());
});

const received: NodeJS.Dict<string | string[]>[] = [];
const server = createServer((request, response) => {
  received.push(request.headers);
  response.writeHead(request.url === "/busy" ? 503 : 200).end("ok");
});
const bare = createNet({ allowPrivateNetwork: true });
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await bare.close();
  server.close();
});

const dispatched = (net: Net, path: string) =>
  new Promise<void>((resolve, reject) =>
    net.dispatch(
      { url: url + path, method: "POST", body: "x" },
      { onResponseStart() {}, onResponseData() {}, onResponseEnd: resolve, onResponseError: reject },
    ),
  );

it("passes the trace on with outgoing calls, and records each without path and query", async () => {
  const { tracer, spans } = tracing();
  const net = traceNet(bare, { ...noTelemetry, ...tracer });
  await tracer.within(tracer.begin(parent, "v=1"), async () => {
    await (await net.request({ url: `${url}/secret-path?key=s3cret` })).body.dump();
    await dispatched(net, "/busy");
    await (await net.request({ url, headers: { TraceParent: "the-caller's-own" } })).body.dump();
  });
  await (await net.request({ url })).body.dump();
  const [first, second, own, outside] = received;
  expect(first?.traceparent).toBe(`00-4bf92f3577b34da6a3ce929d0e0e4736-${spans[0]?.context.spanId}-01`);
  expect(first?.tracestate).toBe("v=1");
  expect(second?.traceparent).toBe(`00-4bf92f3577b34da6a3ce929d0e0e4736-${spans[1]?.context.spanId}-01`);
  expect(own?.traceparent).toBe("the-caller's-own");
  expect(outside?.traceparent).toBeUndefined();
  expect(spans.map((span) => [span.attributes["http.response.status_code"], span.failure])).toEqual([
    [200, undefined],
    [503, "503"],
    [200, undefined],
  ]);
  expect(JSON.stringify(spans)).not.toMatch(/secret-path|s3cret/);
});

it("distinguishes an unreachable server from an answer", async () => {
  const { tracer, spans } = tracing();
  const net = traceNet(bare, { ...noTelemetry, ...tracer });
  await tracer.within(tracer.begin(parent, undefined), async () => {
    await expect(net.request({ url: "http://127.0.0.1:1/" })).rejects.toMatchObject({ reason: "unreachable" });
  });
  expect(spans[0]?.failure).toBe("unreachable");
});
