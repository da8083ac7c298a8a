import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { hasCode, syncDirectory } from "./disk-writes.ts";
import type { SigningCredentials } from "./signature.ts";

const fileName = "link-signing-key.json";

/** Credentials that sign the links of the embedded store, created at the first start and readable only by the owner. */
export async function loadOrCreateSigningCredentials(home: string): Promise<SigningCredentials> {
  await mkdir(home, { recursive: true });
  const path = join(home, fileName);
  return (await load(path)) ?? (await create(home, path));
}

async function load(path: string): Promise<SigningCredentials | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  // An unpacked backup may have a wider mode.
  await chmod(path, 0o600);
  const { accessKeyId, secretAccessKey } = parse(text, path);
  if (typeof accessKeyId !== "string" || typeof secretAccessKey !== "string" || secretAccessKey.length < 32) {
    throw damaged(path);
  }
  return { accessKeyId, secretAccessKey };
}

function parse(text: string, path: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw damaged(path);
  }
}

function damaged(path: string): Error {
  return new Error(
    `${path} does not contain signing credentials. Remove it to create new ones; existing links then become invalid`,
  );
}

async function create(home: string, path: string): Promise<SigningCredentials> {
  const credentials = {
    accessKeyId: `GANTRY${randomBytes(7).toString("hex").toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString("base64url"),
  };
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(credentials)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Unlike rename, link does not replace: processes that start together use the same key.
    await link(temporary, path);
    await syncDirectory(home);
    return credentials;
  } catch (error) {
    const winner = hasCode(error, "EEXIST") ? await load(path) : undefined;
    if (winner) return winner;
    throw error;
  } finally {
    await unlink(temporary).catch(() => {});
  }
}
