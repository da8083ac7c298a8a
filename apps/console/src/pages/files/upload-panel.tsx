import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { FileDrop } from "../../ui/file-drop.tsx";
import { bytes } from "../../ui/format.ts";
import { Failure } from "../../ui/notice.tsx";
import { toast } from "../../ui/toast.ts";
import { someModelQuery } from "./some-model.ts";

/** Uploads one file after another. A failure stops the remaining uploads. */
export function UploadPanel() {
  const queries = useQueryClient();
  const model = useQuery(someModelQuery);
  const [progress, setProgress] = useState("");
  const uploading = useMutation({
    meta: { showsFailure: true },
    async mutationFn({ files, at }: { files: readonly File[]; at: string }) {
      for (const [n, file] of files.entries()) {
        const position = files.length === 1 ? "" : `${n + 1} of ${files.length}: `;
        setProgress(`Uploading ${position}${file.name} (${bytes(file.size)})`);
        await api.files.upload(at, file);
      }
    },
    onSuccess: (_, { files: [first, ...rest] }) =>
      toast(rest.length === 0 ? `${first?.name} uploaded` : `${rest.length + 1} files uploaded`),
    onSettled: () => queries.invalidateQueries({ queryKey: ["files"] }),
  });
  const at = model.data;
  return (
    <div className="flex flex-col gap-2">
      <FileDrop
        multiple
        disabled={!at || uploading.isPending}
        onFiles={(files) => at && uploading.mutate({ files, at })}
      >
        <span aria-live="polite">{uploading.isPending ? progress : promptFor(at)}</span>
      </FileDrop>
      {uploading.isError && <Failure error={uploading.error} />}
      {model.isError && <Failure error={model.error} onRetry={() => void model.refetch()} />}
    </div>
  );
}

function promptFor(model: string | null | undefined): string {
  return model === null
    ? "To upload files you need access to at least one model"
    : "Drop files here or click to choose";
}
