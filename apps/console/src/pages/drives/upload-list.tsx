import { Check, CircleAlert, Clock, LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { bytes } from "../../ui/format.ts";
import type { Upload } from "./use-uploads.ts";

const states: Record<Upload["state"], { icon: ReactNode; label: string }> = {
  waiting: { icon: <Clock size={14} className="text-muted" />, label: "Waiting" },
  sending: { icon: <LoaderCircle size={14} className="animate-spin text-info" />, label: "Uploading" },
  done: { icon: <Check size={14} className="text-good" />, label: "Done" },
  exists: { icon: <CircleAlert size={14} className="text-warn" />, label: "File already exists" },
  failed: { icon: <CircleAlert size={14} className="text-bad" />, label: "Failed" },
};

interface UploadListProps {
  uploads: readonly Upload[];
  onReplace(upload: Upload): void;
}

export function UploadList({ uploads, onReplace }: UploadListProps) {
  return (
    <ul aria-label="Uploads" aria-live="polite" className="max-h-80 overflow-y-auto rounded-md border border-line">
      {uploads.map((upload) => {
        const { icon, label } = states[upload.state];
        return (
          <li key={upload.path} className="flex items-center gap-3 border-line border-b px-3 py-1.5 last:border-b-0">
            <span className="shrink-0">{icon}</span>
            <span className="min-w-0 flex-1">
              <span className="block break-all">{upload.path}</span>
              <span className={`block break-words text-xs ${upload.state === "failed" ? "text-bad" : "text-muted"}`}>
                {upload.reason ?? label}, {bytes(upload.file.size)}
              </span>
            </span>
            {upload.state === "exists" && <Button onClick={() => onReplace(upload)}>Replace</Button>}
          </li>
        );
      })}
    </ul>
  );
}
