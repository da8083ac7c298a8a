import { useQuery } from "@tanstack/react-query";
import { Checkbox, Field, Select, TextInput } from "../../../ui/field.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { allDrivesQuery } from "../../drives/drive-queries.ts";
import type { SectionOfDraft } from "./agent-draft.rules.ts";
import { Section } from "./section.tsx";

const usualPath = "/memory.md";

export function MemorySection({ draft: { memory }, errors, onChange }: SectionOfDraft) {
  const own = useQuery(allDrivesQuery);
  const nameOf = (id: string) => own.data?.find((drive) => drive.id === id)?.name ?? id;
  return (
    <Section
      id="memory"
      title="Memory"
      startsOpen={memory !== null}
      error={errors.memory}
      summary={memory ? `${nameOf(memory.drive)} ${memory.path}` : "Off"}
      hint="Notes that the agent keeps between your runs, as a text file in a drive. You can read and edit the file. Runs by other users have no memory."
    >
      <Loaded query={own}>
        {(drives) => (
          <>
            <Checkbox
              label="Keep notes between runs"
              checked={memory !== null}
              disabled={memory === null && drives.length === 0}
              onChange={({ target }) =>
                onChange({ memory: target.checked ? { drive: drives[0]?.id ?? "", path: usualPath } : null })
              }
            />
            {drives.length === 0 && (
              <p className="text-muted">
                You have no drives. <TextLink to="/drives">Create a drive</TextLink> for the notes.
              </p>
            )}
            {memory && (
              <div className="grid gap-4 sm:grid-cols-2">
                <Field label="Drive" error={errors["memory.drive"]}>
                  {(control) => (
                    <Select
                      {...control}
                      value={memory.drive}
                      onChange={(event) => onChange({ memory: { ...memory, drive: event.target.value } })}
                    >
                      {!drives.some(({ id }) => id === memory.drive) && (
                        <option value={memory.drive}>{memory.drive} (deleted)</option>
                      )}
                      {drives.map(({ id, name }) => (
                        <option key={id} value={id}>
                          {name}
                        </option>
                      ))}
                    </Select>
                  )}
                </Field>
                <Field
                  label="File"
                  error={errors["memory.path"]}
                  hint={
                    <>
                      Created by the first note.{" "}
                      <TextLink to="/drives/$driveId" params={{ driveId: memory.drive }} search={{ file: memory.path }}>
                        Open the file
                      </TextLink>
                    </>
                  }
                >
                  {(control) => (
                    <TextInput
                      {...control}
                      className="font-mono"
                      value={memory.path}
                      onChange={(event) => onChange({ memory: { ...memory, path: event.target.value } })}
                    />
                  )}
                </Field>
              </div>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}
