import { type Fault, fault } from "../../kernel/errors.ts";

/** What the uploads of one user take up, and what they may; 0 is no bound. */
export interface UploadRoom {
  stored: number;
  bound: number;
}

/** Whether there is room for so many bytes more; none more fit where nothing is left. */
export function hasRoomFor({ stored, bound }: UploadRoom, more: number): boolean {
  return bound === 0 || stored + Math.max(more, 1) <= bound;
}

/** Trying again helps nobody who deletes nothing: the store has room, its user has not. */
export function noRoomForUpload({ stored, bound }: UploadRoom): Fault {
  const msg = `Your uploads take up ${stored} of the ${bound} bytes that you may store: delete files that you no longer need`;
  return fault("storage_full", msg, { retryable: false, isCallersOwn: true, ctx: { max_size: bound, stored } });
}
