import { FileAudio, FileIcon, FileText, Film, ImageIcon, ImageOff, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { type Media, mediaOf } from "../models/output/media.rules.ts";

const icons: Record<Media, LucideIcon> = { image: ImageIcon, video: Film, audio: FileAudio, file: FileIcon };

interface ThumbnailProps {
  /** Undefined: text, or nothing to show. */
  file: { link: string | null; name: string; contentType: string | null } | undefined;
  large?: boolean;
}

/** Decorative: the text beside it names the file or prediction. */
export function Thumbnail({ file, large = false }: ThumbnailProps) {
  const [failed, setFailed] = useState<string>();
  const frame = `flex shrink-0 items-center justify-center overflow-hidden rounded-md border border-line bg-sunken text-muted ${large ? "size-12" : "size-9"}`;
  const media = file && mediaOf(file.name, file.contentType);
  if (file && media === "image" && file.link !== null && failed !== file.link) {
    const { link } = file;
    return (
      <span className={frame}>
        <img
          src={link}
          alt=""
          loading="lazy"
          decoding="async"
          className="size-full object-cover"
          onError={() => setFailed(link)}
        />
      </span>
    );
  }
  const Icon = failed !== undefined ? ImageOff : media ? icons[media] : FileText;
  return (
    <span className={frame} aria-hidden>
      <Icon size={16} />
    </span>
  );
}
