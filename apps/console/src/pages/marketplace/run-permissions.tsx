import type { AgentCard, RunLeave } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Checkbox } from "../../ui/field.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Notice } from "../../ui/notice.tsx";
import { connectorQuery } from "../identity/identity-queries.ts";

const permissions: readonly { permission: RunLeave; label: string }[] = [
  { permission: "idp", label: "Allow access to my identity tenant. The agent asks before it changes anything." },
  { permission: "models", label: "Allow access to my private models" },
  { permission: "files", label: "Allow access to my files (s3:// addresses)" },
];

interface RunPermissionsProps {
  card: AgentCard;
  granted: readonly RunLeave[];
  onGranted(granted: readonly RunLeave[]): void;
}

/** What an agent of another user may use in a run. */
export function RunPermissions({ card, granted, onGranted }: RunPermissionsProps) {
  const usesTenant = card.connectors.includes("idp");
  const tenant = useQuery({ ...connectorQuery, enabled: usesTenant });
  // Asked only where it matters: most agents use nothing of their caller.
  const offered = permissions.filter(
    ({ permission }) => card.connectors.includes(permission) && (permission !== "idp" || tenant.data),
  );
  return (
    <>
      {offered.map(({ permission, label }) => (
        <Checkbox
          key={permission}
          label={label}
          checked={granted.includes(permission)}
          onChange={({ target }) => {
            const others = granted.filter((other) => other !== permission);
            onGranted(target.checked ? [...others, permission] : others);
          }}
        />
      ))}
      {usesTenant && tenant.data === null && (
        <Notice>
          This agent can work on an identity tenant. <TextLink to="/identity">Connect a tenant</TextLink> to let it.
        </Notice>
      )}
    </>
  );
}
