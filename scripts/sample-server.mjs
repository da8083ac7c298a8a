/** A server with sample data in a folder of its own, for scripts that look at the console. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchBrowser } from "../apps/console/test/support/browser.ts";
import { createSampleData } from "../apps/console/test/support/sample-data.ts";
import { root } from "./set-up.mjs";

const key = "admin-key-for-screenshots-0123456789";

async function startServer(home) {
  const env = {
    ...process.env,
    GANTRY_HOME: home,
    GANTRY_ADMIN_KEY: key,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    GANTRY_FIND_MODELS: "0",
    PORT: "0",
  };
  const server = spawn(process.execPath, [join(root, "scripts", "start.mjs")], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  const url = await new Promise((resolve, reject) => {
    // Reading goes on, so that the server never waits for its log.
    server.stdout.setEncoding("utf8").on("data", (chunk) => {
      printed += chunk;
      const found = /Gantry listens on (\S+)/.exec(printed)?.[1];
      if (found) resolve(found);
    });
    server.once("exit", () => reject(new Error(`The server did not start:\n${printed}`)));
  });
  return { url, server };
}

function callerOf(url) {
  return async (method, path, { key: own = key, json, form } = {}) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(form ?? {})) body.set(name, value);
    const response = await fetch(url + path, {
      method,
      headers: { "x-api-key": own, ...(json !== undefined && { "content-type": "application/json" }) },
      body: form ? body : json === undefined ? null : JSON.stringify(json),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

/** Opens a page that is signed in as admin. `options` are those of a browser context. */
async function openPage(browser, url, options) {
  const context = await browser.newContext({ baseURL: url, ...options });
  const signedIn = await context.request.post("/console/api/session", { data: { key } });
  if (!signedIn.ok()) throw new Error(await signedIn.text());
  return context.newPage();
}

/** Calls `look` with the sample's ids and a way to open pages, and removes everything afterwards. */
export async function withSampleServer(look) {
  const home = await mkdtemp(join(tmpdir(), "gantry-sample-"));
  const { url, server } = await startServer(home);
  let sample;
  let browser;
  try {
    sample = await createSampleData(callerOf(url), { pictures: 3 });
    browser = await launchBrowser();
    await look({ sample, open: (options) => openPage(browser, url, options) });
  } finally {
    await browser?.close();
    await sample?.llm.close();
    if (server.exitCode === null) {
      server.kill("SIGTERM");
      await once(server, "exit");
    }
    await rm(home, { recursive: true, force: true });
  }
}
