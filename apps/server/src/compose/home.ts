import { constants } from "node:fs";
import { access, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes the folder that holds all state, or says why GANTRY_HOME cannot be used. One that is there already is left as it
 * is: it may be there for others too.
 */
export async function makeHome(home: string, onWarning: (text: string) => void): Promise<void> {
  try {
    await makeFolder(home);
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const mode = (await stat(home)).mode & 0o777;
    if ((mode & 0o066) !== 0) {
      const found = `GANTRY_HOME is ${home}, which others may look into (mode ${mode.toString(8)})`;
      onWarning(`${found}: keys and data inside are closed to them, but it should be: chmod 700 ${home}`);
    }
  } catch (error) {
    throw new Error(`GANTRY_HOME is ${home}, which cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/** Step by step: the recursive way of node:fs tries for ever where a file system makes no folders, as /proc. */
async function makeFolder(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found?.isDirectory()) return;
  if (found) throw new Error(`${path} is no folder`);
  await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
