import { unsendable } from "./errors.ts";

// Some values that the platform accepts cannot be sent, and would fail like a lost connection.
const carried = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Trims blanks and line breaks around the value, as files have them. */
export function headerValue(name: string, value: string): string {
  if (typeof value !== "string") throw unsendable(`The header ${name} cannot be sent: its value is not a string`);
  const sent = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  // The value itself may be a secret.
  if (!carried.test(sent))
    throw unsendable(`The header ${name} cannot be sent: its value has characters that headers cannot contain`);
  return sent;
}
