import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, chown, cp, mkdir, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Binaries, binariesIn } from "./binaries.ts";

/** The user that PostgreSQL runs as, and its folder. */
export interface Account {
  kind: AccountKind;
  /** Owner of the data, as seen outside a namespace. */
  uid: number;
  binaries: Binaries;
  /** Parent of the data directory. */
  dir: string;
  command(program: string, args: readonly string[]): { file: string; args: string[]; uid?: number; gid?: number };
}

/**
 * PostgreSQL does not run as root, or as a user without an entry in the user database. In these cases Gantry uses the
 * first of the following that the machine allows; the last two need root:
 * - namespace: a user namespace that maps our user to `nobody`. Can enter our home of mode 700, but, unlike root, not the
 *   closed directories of other users;
 * - capability: user `nobody` with the capability to enter closed directories, for containers without namespaces;
 * - nobody: user `nobody` alone. Its programs and data must be in folders that everyone can enter.
 */
type AccountKind = "self" | "namespace" | "capability" | "nobody";

const nobody = 65534;

const prefixes = {
  namespace: ["unshare", "-U", `--map-user=${nobody}`, `--map-group=${nobody}`],
  capability: [
    ...["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"],
    ...["--inh-caps=+dac_override", "--ambient-caps=+dac_override"],
  ],
} as const;

export async function chooseAccount(
  binaries: Binaries,
  home: string,
  onProgress: (text: string) => void,
  wanted?: AccountKind,
): Promise<Account> {
  const kind = wanted ?? (await possibleKind(binaries, home));
  const uid = process.getuid?.() ?? 0;
  if (kind === "self") return { kind, uid, binaries, dir: home, command: (file, args) => ({ file, args: [...args] }) };
  if (kind === "nobody") return asNobody(binaries, home, onProgress);
  const [file, ...first] = prefixes[kind];
  return {
    kind,
    uid: kind === "namespace" ? uid : nobody,
    binaries,
    dir: home,
    command: (program, args) => ({ file, args: [...first, program, ...args] }),
  };
}

async function possibleKind(binaries: Binaries, home: string): Promise<AccountKind> {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && hasName()) return "self";
  for (const kind of isRoot ? (["namespace", "capability"] as const) : (["namespace"] as const)) {
    const [file, ...args] = prefixes[kind];
    const attempt = ["sh", "-c", 'cd "$1" && exec "$2" --version', "sh", home, binaries.postgres];
    const works = await promisify(execFile)(file, [...args, ...attempt], { timeout: 5000 }).then(
      () => true,
      () => false,
    );
    if (works) return kind;
  }
  return isRoot ? "nobody" : "self";
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

async function asNobody(binaries: Binaries, home: string, onProgress: (text: string) => void): Promise<Account> {
  const outside = join("/var/lib", `gantry-${createHash("sha256").update(home).digest("hex").slice(0, 12)}`);
  const homeIsReachable = await isOpenToAll(dirname(home));
  const programsAreReachable = await isOpenToAll(dirname(binaries.postgres));
  if (!programsAreReachable && binaries.root === undefined)
    throw new Error(
      `PostgreSQL runs as user ${nobody} here, which cannot enter ${dirname(binaries.postgres)} (GANTRY_POSTGRES_BIN). ` +
        "Let every user enter that folder, or run Gantry as a user other than root.",
    );
  if (homeIsReachable) await chmod(home, 0o711);
  if (!homeIsReachable || !programsAreReachable) await mkdir(outside, { recursive: true, mode: 0o755 });
  const reachable = programsAreReachable ? binaries : binariesIn(join(outside, "programs"));
  if (!programsAreReachable && binaries.root !== undefined)
    await cp(binaries.root, join(outside, "programs"), { recursive: true, verbatimSymlinks: true });
  const dir = join(homeIsReachable ? home : outside, "database");
  await mkdir(dir, { recursive: true });
  await chown(dir, nobody, nobody);
  await chmod(dir, 0o700);
  onProgress(`PostgreSQL cannot run as root. It runs as user ${nobody} with its data in ${dir}`);
  return {
    kind: "nobody",
    uid: nobody,
    binaries: reachable,
    dir,
    command: (file, args) => ({ file, args: [...args], uid: nobody, gid: nobody }),
  };
}

async function isOpenToAll(path: string): Promise<boolean> {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
  }
  return true;
}
