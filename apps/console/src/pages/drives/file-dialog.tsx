import type { DriveFileHead } from "@gantry/sdk";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { bytes } from "../../ui/format.ts";
import { Markdown } from "../../ui/markdown/markdown.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { useBlobUrl } from "../../ui/use-blob-url.ts";
import { DeleteFileButton } from "./delete-buttons.tsx";
import { DownloadButton } from "./download-button.tsx";
import { nameOf } from "./drive-path.rules.ts";
import { FileEditor } from "./file-editor.tsx";
import { isMarkdown, languageOf, maxTextBytes, previewKind, textFrom } from "./file-preview.rules.ts";

type Preview = { head: DriveFileHead; image?: Blob; text?: string };

const previewQuery = (driveId: string, path: string) =>
  queryOptions({
    queryKey: ["drive-file", { driveId, path }],
    // An agent may change the file, and the bytes are large.
    gcTime: 0,
    async queryFn({ signal }): Promise<Preview> {
      const head = await api.drives.files.head(driveId, path, { signal });
      const kind = previewKind(head.content_type, head.size);
      if (kind === "empty" || kind === "none") return { head };
      const range = kind === "text" ? `bytes=0-${maxTextBytes - 1}` : undefined;
      const response = await api.drives.files.download(driveId, path, { range, signal });
      if (kind === "image") return { head, image: await response.blob() };
      const text = textFrom(new Uint8Array(await response.arrayBuffer()));
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
  const [isEditing, setEditing] = useState(false);
  const text = preview.data && wholeText(preview.data);
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={nameOf(path)}
      description={head ? `${bytes(head.size)}, ${head.content_type}` : path}
    >
      {isEditing && head && text !== undefined ? (
        <FileEditor
          file={{ driveId, path, text, type: head.content_type, etag: head.etag }}
          onDone={() => {
            setEditing(false);
            void preview.refetch();
          }}
        />
      ) : (
        <>
          <Loaded query={preview}>{(data) => <PreviewContent name={nameOf(path)} {...data} />}</Loaded>
          <div className="mt-4 flex flex-wrap justify-end gap-2">
            <DeleteFileButton driveId={driveId} path={path} onDeleted={onClose} />
            {text !== undefined && (
              <Button icon={<Pencil size={14} />} onClick={() => setEditing(true)}>
                Edit
              </Button>
            )}
            <DownloadButton driveId={driveId} path={path} />
          </div>
        </>
      )}
    </Dialog>
  );
}

/** Undefined: the text is cut, or its bytes would not be the same when written. */
function wholeText({ head, text }: Preview): string | undefined {
  if (head.size === 0) return previewKind(head.content_type, 1) === "text" ? "" : undefined;
  return text !== undefined && new Blob([text]).size === head.size ? text : undefined;
}

function PreviewContent({ name, head, image, text }: Preview & { name: string }) {
  if (head.size === 0) return <Empty title="This file is empty" />;
  if (image) return <Picture blob={image} name={name} />;
  if (text === undefined) return <Empty title="No preview for this file type">Download the file to view it.</Empty>;
  const isCut = head.size > maxTextBytes;
  if (isMarkdown(name, head.content_type)) {
    return (
      <>
        {isCut && <p className="mb-2 text-muted text-xs">First {bytes(maxTextBytes)}</p>}
        <Markdown text={text} isDocument hasTools />
      </>
    );
  }
  const label = isCut ? `First ${bytes(maxTextBytes)}` : "Content";
  return <CodeBlock label={label} language={languageOf(name)} text={text} />;
}

/** Scripts of an SVG do not run inside an `img`. */
function Picture({ blob, name }: { blob: Blob; name: string }) {
  const url = useBlobUrl(blob);
  return (
    <div className="flex justify-center rounded-md border border-line bg-sunken p-3">
      {url && <img src={url} alt={name} className="max-h-[60vh] min-h-16 max-w-full object-contain" />}
    </div>
  );
}
