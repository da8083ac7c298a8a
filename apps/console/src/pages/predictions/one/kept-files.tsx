import { useQuery, useQueryClient } from "@tanstack/react-query";
import { bytes } from "../../../ui/format.ts";
import { fileLinkQuery } from "../../files/file-link.ts";
import { fileNameIn } from "../../models/output/media.rules.ts";
import { Thumbnail } from "../thumbnail.tsx";
import type { KeptFile } from "./kept-input.rules.ts";

export function KeptFiles({ files }: { files: readonly KeptFile[] }) {
  return (
    <ul className="flex flex-col gap-2">
      {files.map((file, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be used twice.
        <li key={n}>{file.kind === "stored" ? <StoredFile s3Path={file.s3Path} /> : <InlineFile file={file} />}</li>
      ))}
    </ul>
  );
}

function StoredFile({ s3Path }: { s3Path: string }) {
  const link = useQuery(fileLinkQuery(useQueryClient(), s3Path));
  const name = fileNameIn(s3Path);
  return (
    <span className="flex min-w-0 items-center gap-3">
      <Thumbnail large file={{ link: link.data?.url ?? null, name, contentType: null }} />
      <span className="min-w-0">
        {link.data ? (
          <a href={link.data.url} target="_blank" rel="noreferrer" className="break-all text-accent hover:underline">
            {name}
          </a>
        ) : (
          <span className="break-all">{name}</span>
        )}
        <span className="block text-muted text-xs">{link.isError ? "Stored file, deleted since" : "Stored file"}</span>
      </span>
    </span>
  );
}

function InlineFile({ file }: { file: KeptFile & { kind: "inline" } }) {
  const { name = "File", contentType, size, sha256, url } = file;
  return (
    <span className="flex min-w-0 items-center gap-3">
      <Thumbnail large file={{ link: null, name, contentType }} />
      <span className="min-w-0" title={sha256 && `SHA-256 ${sha256}`}>
        <span className="break-all">{url ?? name}</span>
        <span className="block text-muted text-xs">
          {contentType}, {bytes(size)}. Sent with the request, not stored.
        </span>
      </span>
    </span>
  );
}
