import type { KeyRecord } from "@gantry/sdk";

/** A key as it is spoken of: by its name, or by the part of it that may be shown. */
export const nameOf = ({ name, public: shown }: Pick<KeyRecord, "name" | "public">): string =>
  name === "" ? `the key ${shown}` : `“${name}”`;
