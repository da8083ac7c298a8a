import { useBlobUrl } from "../../../ui/use-blob-url.ts";

/** Thumbnail of a chosen image. */
export function FilePicture({ file }: { file: File }) {
  return <img src={useBlobUrl(file)} alt="" className="size-8 shrink-0 rounded object-cover" />;
}
