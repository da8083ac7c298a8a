/** What a request may carry beside its key. */
export const headerParameters: Readonly<Record<string, string>> = {
  "Idempotency-Key":
    "1 to 255 visible characters of your choice, without spaces, new for each thing that is to be done once. A repeat with the same key answers what the first was answered, and does nothing a second time.",
  "If-Match": "Only if the version that stands has this `ETag`; `*`: only if there is one.",
  "If-None-Match": "Only if the version that stands has another `ETag`; `*`: only if there is none.",
  "If-Range": "The part of `Range` only if the version that stands has this `ETag`, else the whole file.",
  Range: "The bytes to answer, such as `bytes=0-1023`.",
  "Last-Event-ID":
    "The number of the last event that was received; what follows it is sent. Browsers set it themselves.",
};

/** What an answer may carry that a client acts on. */
export const retryAfter = {
  "Retry-After": { description: "Seconds to wait before the request is repeated.", schema: { type: "integer" } },
};
