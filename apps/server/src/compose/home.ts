import { constants } from "node:fs";
import { access, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Creates GANTRY_HOME. An existing folder keeps its mode: other programs may use it. */
export async function makeHome(home: string, onWarning: (text: string) => void): Promise<void> {
  try {
    await makeFolder(home);
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const mode = (await stat(home)).mode & 0o777;
    if ((mode & 0o066) !== 0) {
      onWarning(`Other users can list GANTRY_HOME (${home}, mode ${mode.toString(8)}). Run: chmod 700 ${home}`);
    }
  } catch (error) {
    throw new Error(`GANTRY_HOME (${home}) cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/** Not `recursive`: node:fs never returns on file systems without folders to create, such as /proc. */
async function makeFolder(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found?.isDirectory()) return;
  if (found) throw new Error(`${path} is not a folder`);
  await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
