import { loadServer } from "../server-tools.ts";

export async function serve(): Promise<number> {
  await (await loadServer()).serve();
  // The server ends the process itself.
  return new Promise<number>(() => {});
}
