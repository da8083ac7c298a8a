import { FileIcon } from "lucide-react";
import { type Media, mediaOf } from "./media.rules.ts";

interface MediaViewProps {
  url: string;
  /** The extension decides how the file is shown if `contentType` does not. */
  name: string;
  contentType?: string | null;
  alt: string;
}

export function MediaView({ url, name, contentType, alt }: MediaViewProps) {
  const media: Media = mediaOf(name, contentType);
  const framed = "max-h-112 w-full rounded-md border border-line bg-sunken";
  if (media === "image") {
    return (
      <a href={url} target="_blank" rel="noreferrer" title="Open in full size">
        <img src={url} alt={alt} className={`${framed} object-contain`} />
      </a>
    );
  }
  // Model output has no captions.
  // biome-ignore lint/a11y/useMediaCaption: see above.
  if (media === "video") return <video src={url} controls aria-label={alt} className={framed} />;
  // biome-ignore lint/a11y/useMediaCaption: see above.
  if (media === "audio") return <audio src={url} controls aria-label={alt} className="w-full" />;
  return (
    <p className="flex items-center gap-2 rounded-md border border-line bg-sunken p-3">
      <FileIcon size={16} className="shrink-0 text-muted" aria-hidden />
      <span className="min-w-0 truncate">{name}</span>
    </p>
  );
}
