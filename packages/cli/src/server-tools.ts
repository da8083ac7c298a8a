import { Failure } from "./frame/failure.ts";
import { loadServer } from "./server/load-server.ts";

export { loadServer };

type Loaded = Awaited<ReturnType<Awaited<ReturnType<typeof loadServer>>["loadTools"]>>;
export type Tools = Loaded["tools"];

interface ToolOptions {
  config: Loaded["config"];
  say(text: string): void;
}

/** Works on an installation directly, with the settings of the server. Its errors are for operators: one sentence. */
export async function withTools<T>(work: (tools: Tools, options: ToolOptions) => Promise<T>): Promise<T> {
  const server = await loadServer();
  try {
    const { tools, config } = await server.loadTools(process.env);
    return await work(tools, { config, say: (text) => console.error(text) });
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(server.describeError(error));
  }
}
