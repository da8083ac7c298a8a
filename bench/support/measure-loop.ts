/** Shared by the loops of the peers: the tool, and the measurement. */
import { request } from "undici";

export const goal = "Find out the weather of five places and sum it up.";
export const toolName = "http_request";
export const toolDescription = "Sends one HTTP request and returns the answer.";

export async function callTool({ url }: { url: string }): Promise<string> {
  const { body } = await request(url);
  return body.text();
}

/** Prints CPU milliseconds per run as the last line. */
export async function measureLoop(run: (base: string) => Promise<void>): Promise<void> {
  const [base = "", count = "50", parallel = "8"] = process.argv.slice(2);
  const many = async (n: number) => {
    let left = n;
    await Promise.all(
      Array.from({ length: Number(parallel) }, async () => {
        while (left-- > 0) await run(base);
      }),
    );
  };
  await many(10);
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await many(Number(count));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ cpuMs: (user + system) / 1000 / Number(count), perSecond: Number(count) / seconds }));
  process.exit(0);
}
