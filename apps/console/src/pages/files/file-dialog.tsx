import type { FileRecord } from "@gantry/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CopyButton } from "../../ui/code.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { bytes, time } from "../../ui/format.ts";
import { Loaded, Notice } from "../../ui/notice.tsx";
import { fileNameIn } from "../models/output/media.rules.ts";
import { MediaView } from "../models/output/media-view.tsx";
import { ModelName } from "../predictions/model-name.tsx";
import { PredictionLink } from "../predictions/prediction-link.tsx";
import { DeleteFile } from "./delete-file.tsx";
import { DownloadFile } from "./download-file.tsx";
import { fileLinkQuery } from "./file-link.ts";
import { originLabel } from "./origin-labels.ts";

export function FileDialog({ file, onClose }: { file: FileRecord; onClose(): void }) {
  const { s3_path, content_type, size, prediction_id, model_name, prompt, created_at } = file;
  const isUploaded = size !== null;
  return (
    <Dialog open onClose={onClose} wide title={fileNameIn(s3_path)} description={time(created_at)}>
      <div className="flex flex-col gap-4">
        {isUploaded ? (
          <SharedFile file={file} />
        ) : (
          <Notice tone="warn">No file has been uploaded with this link yet.</Notice>
        )}
        <Facts
          facts={[
            ["Source", originLabel(file)],
            ...(prompt === null ? [] : [["Prompt", prompt] as const]),
            ...(model_name === null ? [] : [["Model", <ModelName key="model" name={model_name} />] as const]),
            ...(prediction_id === null
              ? []
              : [["Prediction", <PredictionLink key="prediction" id={prediction_id} />] as const]),
            ["Type", content_type ?? "Unknown"],
            ["Size", isUploaded ? bytes(size) : "Unknown"],
            ["Input path", <Copyable key="input" text={s3_path} />],
          ]}
        />
        <div className="flex justify-end gap-2">
          <DeleteFile file={file} onDeleted={onClose} />
          {isUploaded && <DownloadFile file={file} />}
        </div>
      </div>
    </Dialog>
  );
}

function SharedFile({ file: { s3_path, content_type } }: { file: FileRecord }) {
  const name = fileNameIn(s3_path);
  const link = useQuery(fileLinkQuery(useQueryClient(), s3_path));
  return (
    <Loaded query={link}>
      {({ url, until }) => (
        <div className="flex flex-col gap-2">
          <MediaView url={url} name={name} contentType={content_type} alt={name} />
          <div className="flex items-center gap-2 rounded-md border border-line bg-sunken py-1 pl-2">
            <code className="min-w-0 flex-1 truncate text-xs">{url}</code>
            <CopyButton text={url} label="Copy link" />
          </div>
          <p className="text-muted text-xs">Anyone with this link can download the file until {time(until)}.</p>
        </div>
      )}
    </Loaded>
  );
}
