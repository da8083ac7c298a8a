import { LoaderCircle } from "lucide-react";
import type { ButtonHTMLAttributes, ReactNode } from "react";

type Kind = "primary" | "plain" | "quiet" | "danger";

const kinds: Record<Kind, string> = {
  primary: "border-accent bg-accent text-accent-ink hover:opacity-90",
  plain: "border-strong-line bg-panel hover:bg-sunken",
  quiet: "border-transparent text-muted hover:bg-sunken hover:text-ink",
  danger: "border-bad bg-panel text-bad hover:bg-bad-soft",
};

export const buttonClass = (kind: Kind = "plain"): string =>
  `inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md border px-3 font-medium whitespace-nowrap ` +
  `transition disabled:cursor-not-allowed disabled:border-line disabled:bg-sunken disabled:text-muted ${kinds[kind]}`;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind;
  icon?: ReactNode;
  /** Shows a spinner and disables the button. */
  busy?: boolean;
}

export function Button({ kind, icon, busy = false, className = "", children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`${buttonClass(kind)} ${className}`}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
    >
      {busy ? <LoaderCircle size={14} className="animate-spin" /> : icon}
      {children}
    </button>
  );
}
