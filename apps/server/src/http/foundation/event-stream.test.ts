import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EventStream, openEventStream } from "./event-stream.ts";

let server: Server;
let answered: ((response: ServerResponse) => void)[];

beforeEach(async () => {
  answered = [];
  server = createServer((request, response) => {
    request.resume();
    answered.shift()?.(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const nextResponse = () => new Promise<ServerResponse>((resolve) => answered.push(resolve));

function dial(): Socket {
  return connect((server.address() as AddressInfo).port, "127.0.0.1");
}

/** All bytes until they end as told. */
async function readUntil(socket: Socket, end: string): Promise<string> {
  let text = "";
  for await (const piece of socket.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    text += piece;
    if (text.endsWith(end)) break;
  }
  return text;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("every turn's events are one chunk of the right length, whatever the characters", async () => {
  const arriving = nextResponse();
  const socket = dial();
  socket.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  const events = openEventStream(await arriving, { "x-prediction-id": "pred_1" });
  events.send('"é🌊"');
  events.send("2");
  await turn();
  events.send("3");
  await turn();
  events.end();
  const [head = "", ...body] = (await readUntil(socket, "0\r\n\r\n")).split("\r\n\r\n");
  expect(head.toLowerCase()).toContain("transfer-encoding: chunked");
  expect(head).toContain("x-prediction-id: pred_1");
  expect(body.join("\r\n\r\n")).toBe('19\r\ndata: "é🌊"\n\ndata: 2\n\n\r\n9\r\ndata: 3\n\n\r\n0\r\n\r\n');
});

test("the connection serves the next request after a stream", async () => {
  const first = nextResponse();
  const second = nextResponse();
  const socket = dial();
  // Both at once: the second answer begins while the first is still being written, and must wait for it.
  socket.write("GET / HTTP/1.1\r\nHost: here\r\n\r\nGET / HTTP/1.1\r\nHost: here\r\n\r\n");
  const one = openEventStream(await first, {});
  const two = openEventStream(await second, {});
  for (const [events, name] of [
    [two, "two"],
    [one, "one"],
  ] as [EventStream, string][]) {
    events.send(`"${name} a"`);
    await turn();
    events.send(`"${name} b"`);
    await turn();
  }
  one.end();
  await turn();
  two.send('"two c"');
  await turn();
  two.end();
  const text = await readUntil(socket, '"two c"\n\n\r\n0\r\n\r\n');
  expect(text.match(/"(one|two) \w"/g)).toEqual(['"one a"', '"one b"', '"two a"', '"two b"', '"two c"']);
  expect(text.match(/HTTP\/1.1 200/g)).toHaveLength(2);
});

test("a client of HTTP/1.0 gets the bare events and the end of the connection", async () => {
  const arriving = nextResponse();
  const socket = dial();
  socket.write("GET / HTTP/1.0\r\n\r\n");
  const events = openEventStream(await arriving, {});
  events.send("1");
  await turn();
  events.send("2");
  events.end();
  const [head = "", ...body] = (await readUntil(socket, "never")).split("\r\n\r\n");
  expect(head.toLowerCase()).not.toContain("transfer-encoding");
  expect(body.join("\r\n\r\n")).toBe("data: 1\n\ndata: 2\n\n");
});

test("a slow reader applies backpressure, and a disconnect releases it", async () => {
  const arriving = nextResponse();
  const socket = dial();
  socket.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  socket.pause();
  const events = openEventStream(await arriving, {});
  const piece = "x".repeat(1 << 20);
  /** In an object, since a promise of a promise would wait for it. */
  const untilSlow = async (): Promise<{ wait: Promise<void> }> => {
    for (let n = 0; n < 64; n++) {
      const wait = events.send(piece);
      if (wait) return { wait };
      await turn();
    }
    throw new Error("sixty-four megabytes were taken without a word");
  };
  const { wait: untilRead } = await untilSlow();
  socket.resume();
  await untilRead;
  socket.pause();
  const { wait: untilGone } = await untilSlow();
  socket.destroy();
  await untilGone;
});
