import { FileIcon, Link2, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { type ControlProps, TextInput } from "../../../ui/field.tsx";
import { FileDrop } from "../../../ui/file-drop.tsx";
import { bytes } from "../../../ui/format.ts";
import { FilePicture } from "./file-picture.tsx";
import type { FileValue } from "./form-values.rules.ts";

interface FilesControlProps {
  control: ControlProps;
  label: string;
  accept: string;
  max: number;
  files: readonly FileValue[];
  onFiles(files: readonly FileValue[]): void;
}

/** Accepts local files and URLs. */
export function FilesControl({ control, label, accept, max, files, onFiles }: FilesControlProps) {
  const add = (more: readonly FileValue[]) => onFiles(max === 1 ? more.slice(0, 1) : [...files, ...more].slice(0, max));
  const isFull = files.length >= max && max > 1;
  return (
    <div className="flex flex-col gap-2">
      {files.length > 0 && (
        <ul className="flex flex-col gap-1.5">
          {files.map((file, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same file may occur twice.
            <li key={n} className="flex items-center gap-2 rounded-md border border-line bg-sunken p-1.5">
              <FileLine file={file} />
              <Button
                kind="quiet"
                className="px-1.5"
                aria-label={`Remove ${nameOf(file)}`}
                onClick={() => onFiles(files.filter((_, other) => other !== n))}
              >
                <X size={14} />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <FileDrop {...control} accept={accept} multiple={max > 1} disabled={isFull} onFiles={add}>
        {isFull ? `Maximum of ${max} files reached` : promptFor(max, files.length)}
      </FileDrop>
      {!isFull && <AddressLine label={label} onAddress={(address) => add([address])} />}
    </div>
  );
}

function promptFor(max: number, chosen: number): string {
  if (max === 1) return chosen === 0 ? "Drop a file here or click to choose" : "Drop another file here to replace it";
  return `Drop files here or click to choose (${chosen} of ${max})`;
}

const nameOf = (file: FileValue): string => (typeof file === "string" ? file : file.name);

function FileLine({ file }: { file: FileValue }) {
  if (typeof file === "string") {
    return (
      <>
        <Link2 size={16} className="shrink-0 text-muted" aria-hidden />
        <code className="min-w-0 flex-1 truncate text-xs">{file}</code>
      </>
    );
  }
  return (
    <>
      {file.type.startsWith("image/") ? (
        <FilePicture file={file} />
      ) : (
        <FileIcon size={16} className="shrink-0 text-muted" aria-hidden />
      )}
      <span className="min-w-0 flex-1 truncate">{file.name}</span>
      <span className="text-muted text-xs">{bytes(file.size)}</span>
    </>
  );
}

function AddressLine({ label, onAddress }: { label: string; onAddress(address: string): void }) {
  const [address, setAddress] = useState("");
  const add = () => {
    if (address.trim() === "") return;
    onAddress(address.trim());
    setAddress("");
  };
  return (
    <div className="flex gap-2">
      <TextInput
        aria-label={`${label} (URL)`}
        placeholder="Or enter a URL: https://… or s3://…"
        value={address}
        onChange={(event) => setAddress(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.metaKey || event.ctrlKey) return;
          // Enter would submit the form.
          event.preventDefault();
          add();
        }}
      />
      <Button disabled={address.trim() === ""} onClick={add}>
        Add
      </Button>
    </div>
  );
}
