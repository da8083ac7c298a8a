import { type FormEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { bytes } from "../../ui/format.ts";
import { folderFrom } from "./drive-path.rules.ts";
import type { ChosenFile } from "./dropped-files.ts";
import { UploadList } from "./upload-list.tsx";
import { useUploads } from "./use-uploads.ts";

interface UploadDialogProps {
  driveId: string;
  folder: string;
  chosen: readonly ChosenFile[];
  onClose(): void;
}

/** Asks for the folder, then shows progress. */
export function UploadDialog({ driveId, folder, chosen, onClose }: UploadDialogProps) {
  const [typed, setTyped] = useState(folder);
  const { uploads, start, replace } = useUploads(driveId);
  const size = chosen.reduce((sum, { file }) => sum + file.size, 0);
  const files = `${chosen.length} ${chosen.length === 1 ? "file" : "files"}`;
  const isEnded = uploads.every(({ state }) => state !== "waiting" && state !== "sending");
  const conflicts = uploads.filter(({ state }) => state === "exists");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void start(chosen, folderFrom(typed));
  };
  if (uploads.length === 0) {
    return (
      <Dialog
        open
        onClose={onClose}
        title={`Upload ${files}`}
        description={`${bytes(size)} in total. Max 100 MB per file.`}
      >
        <form className="flex flex-col gap-4" onSubmit={submit}>
          <Field label="Folder" hint="Created if it doesn't exist.">
            {(control) => <TextInput {...control} value={typed} onChange={(event) => setTyped(event.target.value)} />}
          </Field>
          <ul className="max-h-64 overflow-y-auto rounded-md border border-line">
            {chosen.map(({ file, relativePath }) => (
              <li
                key={relativePath}
                className="flex justify-between gap-3 border-line border-b px-3 py-1.5 last:border-b-0"
              >
                <span className="break-all">{relativePath}</span>
                <span className="shrink-0 text-muted tabular-nums">{bytes(file.size)}</span>
              </li>
            ))}
          </ul>
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit">
              Upload
            </Button>
          </div>
        </form>
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={isEnded ? "Upload finished" : `Uploading ${files}`}
      description={isEnded ? undefined : "Closing this dialog stops the remaining uploads."}
    >
      <UploadList uploads={uploads} onReplace={(upload) => void replace([upload])} />
      <div className="mt-4 flex justify-end gap-2">
        {conflicts.length > 1 && isEnded && (
          <Button onClick={() => void replace(conflicts)}>Replace all {conflicts.length}</Button>
        )}
        <Button kind={isEnded ? "primary" : "plain"} onClick={onClose}>
          {isEnded ? "Close" : "Stop"}
        </Button>
      </div>
    </Dialog>
  );
}
