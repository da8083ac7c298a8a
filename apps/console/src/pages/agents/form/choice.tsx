import { type ReactNode, useId } from "react";

interface ChoiceProps {
  /** The whole accessible name; the description is read on demand. */
  name: string;
  description?: string | null | undefined;
  isCode?: boolean;
  badge?: ReactNode;
  isChosen: boolean;
  disabled?: boolean;
  onToggle(): void;
}

/** A checkbox with a short name and a description below. */
export function Choice({ name, description, isCode = false, badge, isChosen, disabled, onToggle }: ChoiceProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5 px-3 py-1.5 hover:bg-sunken/60">
      <input
        id={id}
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent"
        aria-describedby={description ? `${id}-description` : undefined}
        checked={isChosen}
        disabled={disabled}
        onChange={onToggle}
      />
      <div className="min-w-0 flex-1">
        <span className="flex flex-wrap items-center gap-x-2">
          <label htmlFor={id} className="min-w-0 break-words">
            {isCode ? <code className="break-all">{name}</code> : name}
          </label>
          {badge}
        </span>
        {description && (
          <p id={`${id}-description`} className="line-clamp-2 text-muted text-xs" title={description}>
            {description}
          </p>
        )}
      </div>
    </div>
  );
}
