type MediaKind = "image" | "video" | "audio" | "other";

/** What a file is, by its bytes alone: neither its name nor its declared type is looked at. */
export interface MediaInfo {
  media: MediaKind;
  /** With its dot (".jpg", ".mp4"); ".txt" for any readable text, "" for what is not known. */
  extension: string;
  contentType: string;
  /** Images and videos, where they could be read. */
  width?: number;
  height?: number;
  /** Videos and audio, where it could be read. */
  durationSeconds?: number;
  /** It begins like such a file but cannot be decoded. */
  damaged?: boolean;
}

export interface InspectOptions {
  /** Whose file it is: decodes and the parsers of containers are shared fairly among users. */
  userId: string;
  maxPixels: number;
  /** Extensions that the caller accepts; undefined: all. A file of another format is named, and neither decoded nor parsed. */
  formats: ReadonlySet<string> | undefined;
  /** Whether the caller needs to know that an image can be decoded, and how large it is. */
  decodes: boolean;
  signal?: AbortSignal;
}

/**
 * The media port: tells what bytes are. Called for every file that a prediction brings.
 *
 * What must hold:
 * - a format is judged by the head of the file before anything is decoded;
 * - an image with more pixels than `maxPixels` is never decoded: its size comes from the header and is reported;
 * - an image with a size that is not damaged has been decoded to its last row, unless it has too many pixels;
 * - no file, however it was made, holds up the event loop, takes memory without bound, or runs without an end: it is
 *   reported as damaged;
 * - the files of one user wait for each other, not those of others for them;
 * - that no file can be looked at for the moment is the fault `service_unavailable`, never one of the file.
 */
export interface Media {
  inspect(source: string | Uint8Array, options: InspectOptions): Promise<MediaInfo>;
  close(): Promise<void>;
}
