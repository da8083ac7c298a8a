import type { ReactNode } from "react";

/** Of pages without the sidebar. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="flex min-h-screen items-center justify-center p-4">
      <div className="flex w-full max-w-sm flex-col gap-5 rounded-lg border border-line bg-panel p-6">
        <header className="flex items-center gap-3">
          <img src={`${import.meta.env.BASE_URL}mark.svg`} alt="" className="size-9" />
          <div>
            <h1 className="font-semibold text-lg">{title}</h1>
            <p className="text-muted">Models and agents, self-hosted.</p>
          </div>
        </header>
        {children}
      </div>
    </main>
  );
}
