import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A program that tests need from the system. */
export interface Needed {
  name: string;
  /** Debian package names. */
  packages: readonly string[];
  isThere(): Promise<boolean>;
}

export const say = (line: string): void => void process.stderr.write(`\n${line}\n`);

/** False if it is missing and cannot be installed: skip its tests; a warning was printed. In CI this is a failure. */
export async function provide(needed: Needed): Promise<boolean> {
  return isProvided(needed.name, await obtain(needed));
}

/** Decides about tests whose program is missing. An empty reason: it is there. */
export function isProvided(name: string, trouble: string): boolean {
  if (trouble === "") return true;
  if (!["", "0", "false"].includes(process.env.CI ?? "")) throw new Error(trouble);
  say(`SKIPPED: tests that need ${name}. ${trouble}`);
  return false;
}

/** Installs missing packages if possible. Returns the reason if not. */
export async function obtain({ name, packages, isThere }: Needed): Promise<string> {
  if (await isThere()) return "";
  const missing = `${name} is not installed (Debian and Ubuntu: apt-get install ${packages.join(" ")})`;
  if (process.getuid?.() !== 0 || !(await isFile("/usr/bin/apt-get"))) return missing;
  say(`Installing ${name} from the system's packages, once, about a minute …`);
  return install(packages).then(
    () => "",
    ({ stderr, message }) => `${missing}, and installing it failed: ${stderr?.trim() || message}`,
  );
}

/**
 * Packages start their services when installed, unless the policy file forbids it. apt-get waits for dpkg, but not for
 * another `apt-get update`, so test files install in turn.
 */
const installing = `
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > $policy
  chmod 755 $policy
fi
apt-get -q update && apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
`;

async function install(packages: readonly string[]): Promise<void> {
  const env = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
  const inTurn = [join(tmpdir(), "gantry-tests.lock"), "sh", "-c", installing, "sh", ...packages];
  await promisify(execFile)("flock", inTurn, { env, timeout: 600_000 });
}

export const isFile = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
