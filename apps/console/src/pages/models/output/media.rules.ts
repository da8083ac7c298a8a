export type Media = "image" | "video" | "audio" | "file";

const endings: Readonly<Record<Exclude<Media, "file">, readonly string[]>> = {
  image: ["jpg", "jpeg", "png", "webp", "gif", "avif"],
  video: ["mp4", "mov", "webm"],
  audio: ["wav", "mp3", "ogg", "oga", "opus", "flac", "m4a", "aac"],
};

export function fileNameIn(address: string): string {
  const path = address.replace(/[?#].*$/s, "");
  const name = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Decides by content type, then by extension. */
export function mediaOf(name: string, contentType?: string | null): Media {
  const kinds = Object.keys(endings) as (keyof typeof endings)[];
  // SVG may contain scripts, so the server never serves it inline.
  if (contentType === "image/svg+xml") return "file";
  const byType = kinds.find((kind) => contentType?.startsWith(`${kind}/`));
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return byType ?? kinds.find((kind) => endings[kind].includes(ending)) ?? "file";
}
