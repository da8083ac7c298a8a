import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { call, putModel, textModel } from "../proof/client.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { clusterAdminKey } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { startCommand } from "../support/gantry-command.ts";
import { waitFor } from "../support/wait-for.ts";
import { endEverything, type ServerProcess, startServer } from "./server-process.ts";

const servers: ServerProcess[] = [];
let chat: ChatServer | undefined;
let own: Awaited<ReturnType<typeof testDatabase>> | undefined;
const home = await mkdtemp(join(tmpdir(), "gantry-command-restart-"));
afterAll(async () => {
  await endEverything(servers, [home]);
  await chat?.close();
  await own?.drop();
  await rm(home, { recursive: true, force: true });
}, 60_000);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

test("a command that follows a run gets its result although the server is killed", async () => {
  own = await testDatabase();
  chat = await startChatServer();
  const { open, say, end } = { open: () => chat?.open, say: chat.say, end: chat.end };
  const settings = {
    DATABASE_URL: own.url,
    GANTRY_HOME: home,
    GANTRY_ADMIN_KEY: clusterAdminKey,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    PORT: String(await freePort()),
  };
  const start = async () => {
    const server = startServer(settings);
    servers.push(server);
    await server.url();
    return server;
  };
  const first = await start();
  const url = `http://127.0.0.1:${settings.PORT}`;
  await putModel(url, "llm", {
    capacity: 8,
    ...textModel,
    backend: { type: "openai-chat", url: chat.url, model: "test" },
  });
  const made = await call(url, "POST", "/v1/agents", {
    json: { name: "Writer", goal: "Write.", tools: [], model: "admin/llm" },
  });
  expect((await call(url, "POST", `/v1/agents/${made.body.id}/publish`, { json: {} })).status).toBe(200);

  const env = { GANTRY_URL: url, GANTRY_KEY: clusterAdminKey };
  const { child, ended } = startCommand(["agents", "run", "writer", "--follow"], env);
  let seen = "";
  child.stderr?.on("data", (chunk) => {
    seen += chunk;
  });
  await waitFor("the call of the model", () => open() === 1, 60_000);
  say("One ", "two ");
  await waitFor("the text so far", () => seen.includes("One two "), 30_000);
  first.kill("SIGKILL");
  await first.exit;
  await start();
  await waitFor("the call of the next server", () => open() === 1, 90_000);
  say("One ", "two ", "three.");
  end({ prompt_tokens: 5, completion_tokens: 4 });
  expect(await ended).toMatchObject({ code: 0, stdout: "One two three.\n" });
}, 240_000);
