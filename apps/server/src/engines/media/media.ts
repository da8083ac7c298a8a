type MediaKind = "image" | "video" | "audio" | "other";

/** Determined from the bytes alone, not from the name or the declared type. */
export interface MediaInfo {
  media: MediaKind;
  /** With its dot (".jpg", ".mp4"); ".txt" for any readable text, "" if unknown. */
  extension: string;
  contentType: string;
  /** For readable images and videos. */
  width?: number;
  height?: number;
  /** For readable videos and audio. */
  durationSeconds?: number;
  /** The file starts like this format but cannot be decoded. */
  damaged?: boolean;
}

export interface InspectOptions {
  /** The owner of the file: users share decoders and parsers fairly. */
  userId: string;
  maxPixels: number;
  /** Accepted extensions; all if undefined. A file of another format is identified, but not decoded or parsed. */
  formats: ReadonlySet<string> | undefined;
  /** Whether an image must be decoded to check it and to get its size. */
  decodes: boolean;
  signal?: AbortSignal;
}

/**
 * The media port identifies and checks every file that a prediction brings. Drivers guarantee:
 * - the format is determined from the first bytes before anything is decoded;
 * - an image with more than `maxPixels` is never decoded: its size is read from the header;
 * - any other image with a size and not `damaged` was decoded to its last row;
 * - no file blocks the event loop, takes unbounded memory or runs without an end: it is reported as damaged;
 * - files of one user do not delay those of others;
 * - if inspection is temporarily impossible, the fault is `service_unavailable`, never one of the file.
 */
export interface Media {
  inspect(source: string | Uint8Array, options: InspectOptions): Promise<MediaInfo>;
  close(): Promise<void>;
}
