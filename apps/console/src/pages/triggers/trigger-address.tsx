import { CodeBlock } from "../../ui/code.tsx";
import { SecretDialog } from "../../ui/dialog.tsx";

interface TriggerAddressProps {
  /** Undefined: closed. */
  url: string | undefined;
  /** The sender must sign its requests, so a plain call is refused. */
  isSigned: boolean;
  onClose(): void;
}

/** The address of a trigger, which contains its secret. */
export function TriggerAddress({ url, isSigned, onClose }: TriggerAddressProps) {
  return (
    <SecretDialog secret={url} title="Address of the trigger" onClose={onClose}>
      <div className="mt-4 flex flex-col gap-3">
        <p className="text-muted">
          Enter this address in the service that should start the agent. Anyone who knows it can start runs that you pay
          for{isSigned && ", if they also sign the request"}.
        </p>
        {!isSigned && (
          <CodeBlock
            wrap
            label="Try it"
            language="sh"
            text={`curl -X POST '${url}' \\\n  -H 'Content-Type: application/json' \\\n  -d '{"message": "Hello"}'`}
          />
        )}
      </div>
    </SecretDialog>
  );
}
