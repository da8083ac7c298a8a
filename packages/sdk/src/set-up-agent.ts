import type {
  AgentCreatedRecord,
  CreateDriveBody,
  CreateScheduleBody,
  CreateTriggerBody,
  DriveRecord,
  ScheduleRecord,
  TriggerWithUrlRecord,
} from "@gantry/wire";
import type { NewAgent } from "./agents.ts";
import type { GantryClient } from "./client.ts";

/** What an agent needs beside its own fields, as in `examples/agents/*.setup.json`. */
export interface AgentSetup {
  /** Become the drives of the agent, the first one as its default. `files` are texts by path. */
  drives?: readonly (CreateDriveBody & { files?: Readonly<Record<string, string>> })[];
  /** The path of the agent's notes, on a drive of their own: tools read the drives of an agent, for other users too. */
  memory?: string;
  /** Created disabled. */
  schedule?: CreateScheduleBody;
  trigger?: CreateTriggerBody;
}

export interface AgentWithSetup {
  agent: AgentCreatedRecord;
  drives: DriveRecord[];
  /** Has the notes of the agent. */
  memoryDrive?: DriveRecord;
  schedule?: ScheduleRecord;
  /** Contains the address of the trigger, which is shown only once. */
  trigger?: TriggerWithUrlRecord;
}

type Client = Pick<GantryClient, "agents" | "drives" | "schedules" | "triggers">;

/**
 * Creates an agent with its drives, files, schedule and trigger. An agent with a schedule or a trigger is published. If a
 * step fails, everything that was created is deleted again.
 */
export async function setUpAgent(client: Client, fields: NewAgent, setup: AgentSetup = {}): Promise<AgentWithSetup> {
  const undo: (() => Promise<void>)[] = [];
  try {
    const drives: DriveRecord[] = [];
    const newDrive = async (body: CreateDriveBody) => {
      const drive = await client.drives.create(body);
      undo.push(() => client.drives.delete(drive.id, { force: true }));
      return drive;
    };
    for (const { files = {}, ...body } of setup.drives ?? []) {
      const drive = await newDrive(body);
      drives.push(drive);
      for (const [path, text] of Object.entries(files)) {
        await client.drives.files.upload(drive.id, path, new Blob([text], { type: "text/plain" }));
      }
    }
    const memoryDrive = setup.memory === undefined ? undefined : await newDrive({ name: `Memory of ${fields.name}` });
    const agent = await client.agents.create({
      ...fields,
      ...(drives.length > 0 && { drives: drives.map(({ id }) => id) }),
      ...(memoryDrive && setup.memory !== undefined && { memory: { drive: memoryDrive.id, path: setup.memory } }),
    });
    undo.push(() => client.agents.delete(agent.id));
    if (setup.schedule || setup.trigger) await client.agents.publish(agent.id);
    const schedule = setup.schedule && (await client.schedules.create(agent.id, { ...setup.schedule, enabled: false }));
    const trigger = setup.trigger && (await client.triggers.create(agent.id, setup.trigger));
    return {
      agent,
      drives,
      ...(memoryDrive && { memoryDrive }),
      ...(schedule && { schedule }),
      ...(trigger && { trigger }),
    };
  } catch (error) {
    // The failure that is thrown matters more than one of cleaning up.
    for (const step of undo.toReversed()) await step().catch(() => undefined);
    throw error;
  }
}
