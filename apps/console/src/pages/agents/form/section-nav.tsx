interface SectionNavProps {
  sections: readonly { id: string; title: string; count?: number | undefined; className?: string }[];
}

/** Opens the section and scrolls to it. Buttons, because a link would leave the form's address. */
export function SectionNav({ sections }: SectionNavProps) {
  const show = (id: string) => {
    const section = document.getElementById(id);
    if (section instanceof HTMLDetailsElement) section.open = true;
    section?.scrollIntoView({ block: "start" });
    section?.querySelector<HTMLElement>("summary, input, textarea")?.focus({ preventScroll: true });
  };
  return (
    <nav aria-label="Sections" className="-mx-1 flex flex-wrap gap-0.5">
      {sections.map(({ id, title, count, className = "" }) => (
        <button
          key={id}
          type="button"
          className={`inline-flex h-7 items-center gap-1 rounded-md px-1.5 text-muted text-xs hover:bg-sunken hover:text-ink ${className}`}
          onClick={() => show(id)}
        >
          {title}
          {count !== undefined && count > 0 && <span className="font-medium text-ink tabular-nums">{count}</span>}
        </button>
      ))}
    </nav>
  );
}
