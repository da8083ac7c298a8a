import { accountCommands } from "./account/rows.ts";
import { agentCommands } from "./agents/rows.ts";
import { batchCommands } from "./batches/rows.ts";
import { chatCommands } from "./chat/rows.ts";
import { completionCommands } from "./completion/rows.ts";
import { driveCommands } from "./drives/rows.ts";
import { fileCommands } from "./files/rows.ts";
import type { Command } from "./frame/command.ts";
import { modelCommands } from "./models/rows.ts";
import { noticeCommands } from "./notices/rows.ts";
import { operatorCommands } from "./operator/rows.ts";
import { predictionCommands } from "./predictions/rows.ts";
import { runCommands } from "./runs/rows.ts";
import { scheduleCommands } from "./schedules/rows.ts";
import { teamCommands } from "./teams/rows.ts";
import { threadCommands } from "./threads/rows.ts";
import { toolServerCommands } from "./tool-servers/rows.ts";
import { triggerCommands } from "./triggers/rows.ts";

/** Every command. Help lists them in this order within their group. */
export const commands: readonly Command[] = [
  ...accountCommands,
  ...noticeCommands,
  ...teamCommands,
  ...predictionCommands,
  ...batchCommands,
  ...chatCommands,
  ...modelCommands,
  ...fileCommands,
  ...agentCommands,
  ...runCommands,
  ...threadCommands,
  ...scheduleCommands,
  ...triggerCommands,
  ...driveCommands,
  ...toolServerCommands,
  ...operatorCommands,
  ...completionCommands(() => commands),
];
