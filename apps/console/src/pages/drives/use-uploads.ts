import { GantryError } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { errorText } from "../../ui/error-text.rules.ts";
import { joined } from "./drive-path.rules.ts";
import type { ChosenFile } from "./dropped-files.ts";

/** Limit of the API. */
export const maxFileBytes = 104_857_600;
const concurrency = 3;

/**
 * waiting ──► sending ──► done | failed
 *                └──────► exists ──► (user chooses Replace) sending
 */
type UploadState = "waiting" | "sending" | "done" | "exists" | "failed";

export interface Upload {
  path: string;
  file: File;
  state: UploadState;
  reason?: string;
}

export function useUploads(driveId: string) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const queries = useQueryClient();
  const controller = useRef<AbortController>(undefined);
  // Closing the dialog stops the remaining uploads.
  useEffect(() => () => controller.current?.abort(), []);

  const setState = (path: string, state: UploadState, reason?: string) =>
    setUploads((now) =>
      now.map((upload) => (upload.path === path ? { ...upload, state, ...(reason && { reason }) } : upload)),
    );

  async function send({ path, file }: Upload, how: "upload" | "replace", signal: AbortSignal): Promise<void> {
    if (file.size > maxFileBytes) return setState(path, "failed", "Larger than 100 MB");
    setState(path, "sending");
    try {
      await api.drives.files[how](driveId, path, file, { signal });
      setState(path, "done");
    } catch (error) {
      const exists = error instanceof GantryError && error.type === "conflict" && error.details?.path === path;
      if (exists) setState(path, "exists");
      else setState(path, "failed", errorText(error));
    }
  }

  async function sendAll(some: readonly Upload[], how: "upload" | "replace"): Promise<void> {
    controller.current ??= new AbortController();
    const { signal } = controller.current;
    const remaining = some.values();
    const worker = async () => {
      for (const upload of remaining) {
        if (signal.aborted) return;
        await send(upload, how, signal);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
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
