import { FileIcon, RotateCw } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { type Media, mediaOf } from "./media.rules.ts";

interface MediaViewProps {
  url: string;
  /** The extension decides how the file is shown if `contentType` does not. */
  name: string;
  contentType?: string | null;
  alt: string;
}

const framed = "max-h-112 w-full rounded-md border border-line bg-sunken";

export function MediaView({ url, name, contentType, alt }: MediaViewProps) {
  const media: Media = mediaOf(name, contentType);
  if (media === "image") return <Picture url={url} alt={alt} />;
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

/** Browsers do not load a picture again by themselves. */
function Picture({ url, alt }: { url: string; alt: string }) {
  const [failedUrl, setFailedUrl] = useState<string>();
  const [attempt, setAttempt] = useState(0);
  if (failedUrl === url) {
    return (
      <div className={`${framed} flex min-h-40 flex-col items-center justify-center gap-3 p-6 text-center`}>
        <p className="text-muted">The picture could not be loaded.</p>
        <Button
          icon={<RotateCw size={14} />}
          onClick={() => {
            setAttempt(attempt + 1);
            setFailedUrl(undefined);
          }}
        >
          Load again
        </Button>
      </div>
    );
  }
  return (
    <a href={url} target="_blank" rel="noreferrer" title="Open in full size">
      <img
        key={attempt}
        src={url}
        alt={alt}
        className={`${framed} min-h-24 object-contain`}
        onError={() => setFailedUrl(url)}
      />
    </a>
  );
}
