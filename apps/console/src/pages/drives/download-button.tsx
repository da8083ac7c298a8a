import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { nameOf } from "./drive-path.rules.ts";

/** Not a link: the session cookie counts only with a header that links cannot send. */
export function DownloadButton({ driveId, path }: { driveId: string; path: string }) {
  const downloading = useMutation({
    mutationFn: async () => saveFile(await (await api.drives.files.download(driveId, path)).blob(), nameOf(path)),
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
