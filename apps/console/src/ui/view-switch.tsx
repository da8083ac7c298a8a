interface ViewSwitchProps<Value extends string> {
  label: string;
  options: readonly { value: Value; label: string; title?: string }[];
  value: NoInfer<Value>;
  onValue(value: NoInfer<Value>): void;
}

/** Two or three ways to see the same thing. */
export function ViewSwitch<Value extends string>({ label, options, value, onValue }: ViewSwitchProps<Value>) {
  return (
    <fieldset className="inline-flex h-8 divide-x divide-line overflow-hidden rounded-md border border-strong-line bg-panel">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          className="h-full px-2.5 text-muted -outline-offset-2 hover:bg-sunken hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
          onClick={() => onValue(option.value)}
        >
          <span aria-hidden={option.title !== undefined}>{option.label}</span>
          {option.title !== undefined && <span className="sr-only">{option.title}</span>}
        </button>
      ))}
    </fieldset>
  );
}
