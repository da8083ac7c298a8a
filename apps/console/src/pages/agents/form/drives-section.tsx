import { useQuery } from "@tanstack/react-query";
import { Badge } from "../../../ui/badge.tsx";
import { Checkbox } from "../../../ui/field.tsx";
import { TextLink } from "../../../ui/link.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { allDrivesQuery } from "../../drives/drive-queries.ts";
import { Section } from "./section.tsx";

interface DrivesSectionProps {
  drives: readonly string[];
  error: string | undefined;
  onChange(drives: string[]): void;
}

export function DrivesSection({ drives, error, onChange }: DrivesSectionProps) {
  const own = useQuery(allDrivesQuery);
  const toggle = (id: string) =>
    onChange(drives.includes(id) ? drives.filter((driveId) => driveId !== id) : [...drives, id]);
  return (
    <Section
      id="knowledge"
      title="Knowledge"
      error={error}
      startsOpen={drives.length > 0}
      summary={drives.length === 0 ? "No drives" : `${drives.length} ${drives.length === 1 ? "drive" : "drives"}`}
      hint="Drives whose files runs can read and write with the drive tools. The first drive is the default."
    >
      <Loaded query={own}>
        {(all) => {
          const gone = drives.filter((id) => !all.some((drive) => drive.id === id));
          return (
            <ul className="flex max-h-56 flex-col gap-1.5 overflow-y-auto">
              {all.length + gone.length === 0 && (
                <li className="text-muted">
                  You have no drives. <TextLink to="/drives">Create a drive</TextLink>
                </li>
              )}
              {all.map(({ id, name, description }) => (
                <li key={id}>
                  <Checkbox
                    checked={drives.includes(id)}
                    onChange={() => toggle(id)}
                    label={
                      <span className="flex flex-wrap items-center gap-2">
                        {name}
                        {description && <span className="text-muted text-xs">{description}</span>}
                        {drives[0] === id && <Badge tone="info">First</Badge>}
                      </span>
                    }
                  />
                </li>
              ))}
              {gone.map((id) => (
                <li key={id}>
                  <Checkbox
                    checked
                    onChange={() => toggle(id)}
                    label={
                      <span className="flex items-center gap-2">
                        <code>{id}</code> <Badge tone="bad">Deleted</Badge>
                      </span>
                    }
                  />
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Section>
  );
}
