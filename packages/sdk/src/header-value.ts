import { unsendable } from "./errors.ts";

// What the platform takes as a header's value is more than what it can send: the rest would fail as if nobody answered.
const carried = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A value as it is sent. Blanks and line breaks around it, as a file brings them, do not belong to it. */
export function headerValue(name: string, value: string): string {
  if (typeof value !== "string") throw unsendable(`The header ${name} cannot be sent: its value is no text`);
  const sent = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  // The value itself may be a secret.
  if (!carried.test(sent)) throw unsendable(`The header ${name} cannot be sent: its value holds what no header can`);
  return sent;
}
