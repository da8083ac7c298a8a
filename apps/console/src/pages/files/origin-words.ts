import type { FileRecord } from "@gantry/sdk";

const words: Record<FileRecord["origin"], string> = {
  uploaded: "uploaded",
  link: "by an upload link",
  output: "a prediction",
};

export const originInWords = ({ origin }: FileRecord): string => words[origin];
