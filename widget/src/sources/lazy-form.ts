/**
 * The form is the largest chunk, loaded right after the first screen.
 */

type FormModule = typeof import('@inlay/ui/form/connector-form.tsx');

let loading: Promise<FormModule> | undefined;

export function loadForm(): Promise<FormModule> {
  loading ??= import('@inlay/ui/form/connector-form.tsx').catch((error) => {
    // The next caller tries again.
    loading = undefined;
    throw error;
  });
  return loading;
}

/** Loads the form ahead of time. A failure is shown only when the form is needed. */
export function prefetchForm(): void {
  loadForm().catch(() => {});
}
