import { expect } from "vitest";
import { GantryError } from "../../../../packages/sdk/src/index.ts";

/** The error of a client call that must fail. */
export async function failureOf(promise: Promise<unknown>): Promise<GantryError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GantryError);
  return error as GantryError;
}
