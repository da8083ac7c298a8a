import type { FileRecord } from "@gantry/sdk";

const labels: Record<FileRecord["origin"], string> = {
  uploaded: "Upload",
  link: "Upload link",
  output: "Prediction",
};

export const originLabel = ({ origin }: FileRecord): string => labels[origin];
