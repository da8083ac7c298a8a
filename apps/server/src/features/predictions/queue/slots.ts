import type { ClaimedJob } from "./job-store.ts";

/** A worker has as many hands as it runs queued predictions at once. This one waits for a prediction that is being accepted. */
export interface SlotReservation {
  begin(job: ClaimedJob): void;
  /** Must be called where nothing begins. */
  giveBack(): void;
}

/** Hands that become free with what a statement ends, for what it claims. */
export interface FreedSlots {
  hands: number;
  /** Must be called, with what was claimed or with nothing. */
  use(jobs: readonly ClaimedJob[]): void;
}
