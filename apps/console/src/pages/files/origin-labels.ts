import type { FileRecord } from "@gantry/sdk";
import { fileOrigins } from "../../searches.rules.ts";

const labels: Record<FileRecord["origin"], string> = {
  uploaded: "Upload",
  link: "Upload link",
  output: "Prediction",
};

export const originLabel = ({ origin }: FileRecord): string => labels[origin];

export const originChoices = fileOrigins.map((value) => ({ value, label: labels[value] }));
