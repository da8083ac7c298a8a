import { execFileSync } from "node:child_process";

/** A mount that only the process and its children see, and that disappears with them. */
export const privateMounts = process.getuid?.() === 0 ? ["unshare", "-m"] : ["unshare", "-rm"];

export function canMount(): boolean {
  try {
    const [file = "", ...args] = privateMounts;
    execFileSync(file, [...args, "sh", "-c", "mount -t tmpfs none /mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
