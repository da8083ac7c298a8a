import { execFile, type SpawnOptions } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, chown, cp, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Binaries, binariesIn } from "./binaries.ts";

/** How, as whom and where the server's programs run. */
export interface Account {
  kind: "self" | "namespace" | "nobody";
  binaries: Binaries;
  /** Where the data directory goes. Belongs to whoever runs the server. */
  dir: string;
  command(program: string, args: readonly string[]): { file: string; args: string[]; options: SpawnOptions };
}

const nobody = 65534;
const namespaceArgs = ["-U", "--map-user=1000", "--map-group=1000"];

/**
 * PostgreSQL refuses to run as root. Where we are root it runs in a user namespace: to the kernel it is still root and
 * reaches a home of mode 700, to itself it is user 1000. Where namespaces are forbidden it runs as `nobody`, and then
 * its programs and its data must lie where `nobody` gets to.
 */
export async function chooseAccount(
  binaries: Binaries,
  home: string,
  onProgress: (text: string) => void,
  wanted?: Account["kind"],
): Promise<Account> {
  const kind = wanted ?? (await possibleKind());
  if (kind === "self")
    return { kind, binaries, dir: home, command: (file, args) => ({ file, args: [...args], options: {} }) };
  if (kind === "namespace")
    return {
      kind,
      binaries,
      dir: home,
      command: (program, args) => ({ file: "unshare", args: [...namespaceArgs, program, ...args], options: {} }),
    };
  return asNobody(binaries, home, onProgress);
}

async function possibleKind(): Promise<Account["kind"]> {
  if (process.getuid?.() !== 0) return "self";
  try {
    await promisify(execFile)("unshare", [...namespaceArgs, "true"], { timeout: 5000 });
    return "namespace";
  } catch {
    return "nobody";
  }
}

async function asNobody(binaries: Binaries, home: string, onProgress: (text: string) => void): Promise<Account> {
  const id = createHash("sha256").update(home).digest("hex").slice(0, 12);
  const outside = join("/var/lib", `gantry-${id}`);
  const homeIsOpen = await isOpenToAll(home);
  const programsAreOpen = await isOpenToAll(binaries.root);
  let reachable = binaries;
  if (!homeIsOpen || !programsAreOpen) await mkdir(outside, { recursive: true, mode: 0o755 });
  if (!programsAreOpen) {
    reachable = binariesIn(join(outside, "programs"));
    await cp(binaries.root, reachable.root, { recursive: true, verbatimSymlinks: true });
  }
  const dir = join(homeIsOpen ? home : outside, "database");
  await mkdir(dir, { recursive: true });
  await chown(dir, nobody, nobody);
  await chmod(dir, 0o700);
  onProgress(
    `PostgreSQL does not run as root and user namespaces are not available here: it runs as user ${nobody}, its data is in ${dir}`,
  );
  return {
    kind: "nobody",
    binaries: reachable,
    dir,
    command: (file, args) => ({ file, args: [...args], options: { uid: nobody, gid: nobody } }),
  };
}

async function isOpenToAll(path: string): Promise<boolean> {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
  }
  return true;
}
