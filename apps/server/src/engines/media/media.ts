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

/**
 * The media port: tells what bytes are. Called for every file that a prediction brings.
 *
 * What must hold:
 * - an image with more pixels than `maxPixels` is never decoded: its size comes from the header and is reported;
 * - an image that is reported as not damaged has been decoded to its last row;
 * - no file, however it was made, holds up the event loop, takes memory without bound, or runs without an end: it is
 *   reported as damaged;
 * - that no file can be looked at for the moment is the fault `service_unavailable`, never one of the file.
 */
export interface Media {
  inspect(source: string | Uint8Array, options: { maxPixels: number; signal?: AbortSignal }): Promise<MediaInfo>;
  close(): Promise<void>;
}
