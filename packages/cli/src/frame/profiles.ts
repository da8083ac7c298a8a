import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Failure } from "./failure.ts";

export interface Profile {
  url: string;
  key: string;
}

/** Stored logins by name. */
export interface Profiles {
  current: string;
  profiles: Record<string, Profile>;
}

/** Trims as the server does; an empty setting counts as unset. */
export function setting(name: string): string | undefined {
  return process.env[name]?.trim() || undefined;
}

export function profilesFile(): string {
  return join(setting("XDG_CONFIG_HOME") ?? join(homedir(), ".config"), "gantry", "config.json");
}

export function readProfiles(file = profilesFile()): Profiles {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return { current: "default", profiles: {} };
    throw new Failure(`Cannot read ${file}: ${(error as Error).message}`);
  }
  const read = parsed(text);
  if (read === undefined) throw new Failure(`${file} is damaged. Delete it, then run gantry login.`);
  return read;
}

function parsed(text: string): Profiles | undefined {
  try {
    const { current, profiles } = JSON.parse(text) as Partial<Profiles>;
    const isValid =
      typeof current === "string" &&
      typeof profiles === "object" &&
      profiles !== null &&
      Object.values(profiles).every((one) => typeof one?.url === "string" && typeof one.key === "string");
    return isValid ? { current, profiles } : undefined;
  } catch {
    return undefined;
  }
}

/** Written beside and renamed, so that a killed process leaves the old file. */
export function writeProfiles(profiles: Profiles, file = profilesFile()): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    chmodSync(draft, 0o600);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new Failure(`Cannot write ${file}: ${(error as Error).message}`);
  }
}

/** Whether other users of the machine can read the keys. Windows has no such modes. */
export function isReadByOthers(file = profilesFile()): boolean {
  if (process.platform === "win32") return false;
  try {
    return (statSync(file).mode & 0o077) !== 0;
  } catch {
    return false;
  }
}

const isMissing = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
