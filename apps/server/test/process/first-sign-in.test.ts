import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";
import { adminKey, endEverything, startServer } from "./server-process.ts";

/** What the first start prints about signing in. */
async function printed(env: Record<string, string>, prefix: string[] = []): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "gantry-first-"));
  const own = await testDatabase();
  const server = startServer({ GANTRY_HOME: home, DATABASE_URL: own.url, ...env }, prefix);
  const lines = () => server.stdout().match(/^.*sign in to the console.*$/gim) ?? [];
  try {
    await waitFor("the line about signing in", () => lines().length > 0, 60_000);
    expect(lines()).toHaveLength(1);
    return lines()[0]?.trim() ?? "";
  } finally {
    server.kill("SIGTERM");
    await server.exit;
    await endEverything([server], []);
    await own.drop();
    await rm(home, { recursive: true, force: true });
  }
}

const link =
  /^Sign in to the console \(link works once, for 24 hours\): http:\/\/127\.0\.0\.1:\d+\/console\/sign-in#\S+$/;
/** Runs the rest of the arguments on a terminal. */
const onTerminal = ["sh", "-c", 'exec script --quiet --flush --return --command "$*" /dev/null', "sh"];

test("with an operator's key and without a terminal, the log shows no admin sign-in link", async () => {
  expect(await printed({ GANTRY_ADMIN_KEY: adminKey })).toMatch(
    /^Sign in to the console with: npx gantry sign-in --url http:\/\/127\.0\.0\.1:\d+ --key "\$GANTRY_ADMIN_KEY"$/,
  );
}, 90_000);

test.each([
  ["a terminal", { GANTRY_ADMIN_KEY: adminKey }, onTerminal],
  ["no key of the operator's", {}, []],
])(
  "%s: the first start prints a link",
  async (_, env, prefix) => {
    expect(await printed(env, prefix)).toMatch(link);
  },
  90_000,
);
