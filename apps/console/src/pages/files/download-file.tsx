import type { FileRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { Button } from "../../ui/button.tsx";
import { fileNameIn } from "../models/output/media.rules.ts";
import { fileLinkQuery } from "./file-link.ts";

export function DownloadFile({ file: { s3_path }, quiet = false }: { file: FileRecord; quiet?: boolean }) {
  const queries = useQueryClient();
  const opening = useMutation({
    mutationFn: () => queries.fetchQuery(fileLinkQuery(queries, s3_path)),
    onSuccess({ url }) {
      const link = document.createElement("a");
      link.href = url;
      link.download = fileNameIn(s3_path);
      // Browsers ignore `download` for other origins and would open the file in place of this page.
      link.target = "_blank";
      link.rel = "noreferrer";
      link.click();
    },
  });
  return (
    <Button
      kind={quiet ? "quiet" : "plain"}
      icon={<Download size={14} />}
      busy={opening.isPending}
      onClick={() => opening.mutate()}
    >
      Download
    </Button>
  );
}
