import { pathToFileURL } from "node:url";
import { isPackaged } from "../own-version.ts";

type Operate = typeof import("@gantry/server/operate");

/**
 * The server's entry for operators. The npm package of the command does not contain the server: it is found or installed,
 * and the command starts again with the Node that the server brings. Then this function does not return.
 */
export async function loadServer(): Promise<Operate> {
  if (!isPackaged) return import("@gantry/server/operate");
  const { findOrInstallServer } = await import("./find-server.ts");
  const { continueWithOwnNode } = await import("./own-node.ts");
  const entry = await findOrInstallServer();
  await continueWithOwnNode(entry);
  return import(pathToFileURL(entry).href);
}
