import type { KeyRecord } from "@gantry/sdk";

/** The name, or the prefix of a key without a name. */
export const nameOf = ({ name, public: shown }: Pick<KeyRecord, "name" | "public">): string =>
  name === "" ? shown : `“${name}”`;
