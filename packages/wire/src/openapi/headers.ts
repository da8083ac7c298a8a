/** Request headers beside the key. */
export const headerParameters: Readonly<Record<string, string>> = {
  "Idempotency-Key":
    "1 to 255 visible characters without spaces, unique per operation. A repeat with the same key returns the first answer and does nothing.",
  "Gantry-Keep-Input": "`false`: the input is not kept with the result.",
  "If-Match": "Only if the current version has this `ETag`; `*`: only if the file exists.",
  "If-None-Match": "Only if the current version has another `ETag`; `*`: only if the file does not exist.",
  "If-Range": "Return the `Range` only if the current version has this `ETag`, otherwise the whole file.",
  Range: "The bytes to return, such as `bytes=0-1023`.",
  "Last-Event-ID": "The number of the last event that you received. Browsers set it.",
};

/** Response headers that clients act on. */
export const retryAfter = {
  "Retry-After": { description: "Seconds to wait before a retry.", schema: { type: "integer" } },
};
