import { useBlobUrl } from "../../../ui/use-blob-url.ts";

/** What is in a picture that was chosen, before it is sent. */
export function FilePicture({ file }: { file: File }) {
  return <img src={useBlobUrl(file)} alt="" className="size-8 shrink-0 rounded object-cover" />;
}
