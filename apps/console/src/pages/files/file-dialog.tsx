import type { FileRecord } from "@gantry/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CopyButton } from "../../ui/code.tsx";
import { Copied } from "../../ui/copied.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { bytes, time } from "../../ui/format.ts";
import { Loaded, Notice } from "../../ui/notice.tsx";
import { fileNameIn } from "../models/output/media.rules.ts";
import { MediaView } from "../models/output/media-view.tsx";
import { PredictionLink } from "../usage/prediction-link.tsx";
import { usageOfQuery } from "../usage/prediction-queries.ts";
import { DeleteFile } from "./delete-file.tsx";
import { DownloadFile } from "./download-file.tsx";
import { fileLinkQuery } from "./file-link.ts";
import { originInWords } from "./origin-words.ts";

export function FileDialog({ file, onClose }: { file: FileRecord; onClose(): void }) {
  const { s3_path, content_type, size, prediction_id, created_at } = file;
  const isThere = size !== null;
  return (
    <Dialog open onClose={onClose} wide title={fileNameIn(s3_path)} description={time(created_at)}>
      <div className="flex flex-col gap-4">
        {isThere ? (
          <SharedFile file={file} />
        ) : (
          <Notice tone="warn">Nothing has come by this upload link yet, or nobody has used it since.</Notice>
        )}
        <Facts
          facts={[
            ["From", originInWords(file)],
            ...(prediction_id === null
              ? []
              : [["Made by", <Maker key="maker" predictionId={prediction_id} at={created_at} />] as const]),
            ["Type", content_type ?? "not known"],
            ["Size", isThere ? bytes(size) : "not known"],
            ["As an input", <Copied key="input" text={s3_path} />],
          ]}
        />
        <div className="flex justify-end gap-2">
          <DeleteFile file={file} onDeleted={onClose} />
          {isThere && <DownloadFile file={file} />}
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
          <p className="text-muted text-xs">Whoever has this link can download the file, until {time(until)}.</p>
        </div>
      )}
    </Loaded>
  );
}

/** The model that made it, where its prediction is found in the usage, and the prediction itself. */
function Maker({ predictionId, at }: { predictionId: string; at: string }) {
  const { data: row } = useQuery(usageOfQuery(predictionId, at));
  const [owner = "", name = ""] = row?.model_name.split("/") ?? [];
  if (!row) return <Copied text={predictionId} />;
  return (
    <>
      <Link to="/models/$owner/$name" params={{ owner, name }} className="text-accent hover:underline">
        {row.model_name}
      </Link>
      , <PredictionLink id={predictionId} at={row.created_at} />
    </>
  );
}
