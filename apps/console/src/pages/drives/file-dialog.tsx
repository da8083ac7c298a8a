import type { DriveFileHead } from "@gantry/sdk";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { CodeBlock } from "../../ui/code.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { bytes } from "../../ui/format.ts";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { useBlobUrl } from "../../ui/use-blob-url.ts";
import { DeleteFileButton } from "./delete-buttons.tsx";
import { DownloadButton } from "./download-button.tsx";
import { nameOf } from "./drive-path.rules.ts";
import { mostTextBytes, previewKind, textFrom } from "./file-preview.rules.ts";

type Preview = { head: DriveFileHead; image?: Blob; text?: string };

const previewQuery = (driveId: string, path: string) =>
  queryOptions({
    queryKey: ["drive-file", { driveId, path }],
    // An agent may be writing it, and the bytes are not worth keeping.
    gcTime: 0,
    async queryFn({ signal }): Promise<Preview> {
      const head = await api.drives.files.head(driveId, path, { signal });
      const kind = previewKind(head.content_type, head.size);
      if (kind === "empty" || kind === "none") return { head };
      const range = kind === "text" ? `bytes=0-${mostTextBytes - 1}` : undefined;
      const answer = await api.drives.files.download(driveId, path, { range, signal });
      if (kind === "image") return { head, image: await answer.blob() };
      const text = textFrom(new Uint8Array(await answer.arrayBuffer()));
      return text === undefined ? { head } : { head, text };
    },
  });

interface FileDialogProps {
  driveId: string;
  path: string;
  onClose(): void;
}

export function FileDialog({ driveId, path, onClose }: FileDialogProps) {
  const preview = useQuery(previewQuery(driveId, path));
  const head = preview.data?.head;
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={nameOf(path)}
      description={head ? `${bytes(head.size)}, ${head.content_type}` : path}
    >
      <Loaded query={preview}>{(found) => <Shown name={nameOf(path)} {...found} />}</Loaded>
      <div className="mt-4 flex flex-wrap justify-end gap-2">
        <DeleteFileButton driveId={driveId} path={path} onDeleted={onClose} />
        <DownloadButton driveId={driveId} path={path} />
      </div>
    </Dialog>
  );
}

function Shown({ name, head, image, text }: Preview & { name: string }) {
  if (head.size === 0) return <Empty title="The file is empty" />;
  if (image) return <Picture blob={image} name={name} />;
  if (text === undefined) return <Empty title="There is no preview of this kind of file">Download it to see it.</Empty>;
  const isCut = head.size > mostTextBytes;
  return <CodeBlock label={isCut ? `The first ${bytes(mostTextBytes)}` : "Content"} text={text} />;
}

/** As a picture only: what an SVG has of scripts does not run there. */
function Picture({ blob, name }: { blob: Blob; name: string }) {
  const url = useBlobUrl(blob);
  return (
    <div className="flex justify-center rounded-md border border-line bg-sunken p-3">
      {url && <img src={url} alt={name} className="max-h-[60vh] min-h-16 max-w-full object-contain" />}
    </div>
  );
}
