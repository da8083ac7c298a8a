import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { nameOf } from "./drive-path.rules.ts";

/** A plain link would not be let in: the session counts only with a header that a link cannot send. */
export function DownloadButton({ driveId, path }: { driveId: string; path: string }) {
  const downloading = useMutation({
    mutationFn: async () => save(await (await api.drives.files.download(driveId, path)).blob(), nameOf(path)),
  });
  return (
    <Button
      kind="quiet"
      icon={<Download size={14} />}
      busy={downloading.isPending}
      onClick={() => downloading.mutate()}
    >
      Download
    </Button>
  );
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Not at once: the browser begins to read it only after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
