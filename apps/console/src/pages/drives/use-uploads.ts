import { GantryError } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { wordsOf } from "../../ui/failure-words.rules.ts";
import { joined } from "./drive-path.rules.ts";
import type { ChosenFile } from "./dropped-files.ts";

/** What the service takes. */
export const mostFileBytes = 104_857_600;
const atOnce = 3;

/**
 * waiting ──► sending ──► done | failed
 *                └──────► exists ──► (replaced if wanted) sending
 */
type UploadState = "waiting" | "sending" | "done" | "exists" | "failed";

export interface Upload {
  path: string;
  file: File;
  state: UploadState;
  why?: string;
}

export function useUploads(driveId: string) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const queries = useQueryClient();
  const leaving = useRef<AbortController>(undefined);
  // Who closes the dialog wants no more of it to be sent.
  useEffect(() => () => leaving.current?.abort(), []);

  const note = (path: string, state: UploadState, why?: string) =>
    setUploads((now) => now.map((one) => (one.path === path ? { ...one, state, ...(why && { why }) } : one)));

  async function send({ path, file }: Upload, how: "upload" | "replace", signal: AbortSignal): Promise<void> {
    if (file.size > mostFileBytes) return note(path, "failed", "It is larger than 100 MB");
    note(path, "sending");
    try {
      await api.drives.files[how](driveId, path, file, { signal });
      note(path, "done");
    } catch (error) {
      const stands = error instanceof GantryError && error.type === "conflict" && error.details?.path === path;
      if (stands) note(path, "exists");
      else note(path, "failed", wordsOf(error));
    }
  }

  async function sendAll(some: readonly Upload[], how: "upload" | "replace"): Promise<void> {
    leaving.current ??= new AbortController();
    const { signal } = leaving.current;
    const rest = some.values();
    const worker = async () => {
      for (const upload of rest) {
        if (signal.aborted) return;
        await send(upload, how, signal);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    await queries.invalidateQueries({ queryKey: ["drives"] });
  }

  return {
    uploads,
    start(chosen: readonly ChosenFile[], folder: string) {
      const all = chosen.map(
        ({ file, relativePath }): Upload => ({ path: joined(folder, relativePath), file, state: "waiting" }),
      );
      setUploads(all);
      return sendAll(all, "upload");
    },
    replace: (some: readonly Upload[]) => sendAll(some, "replace"),
  };
}
