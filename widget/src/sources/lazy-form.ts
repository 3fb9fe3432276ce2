/** The form is most of the script, so it is loaded apart: early, but behind what the first screen needs. */

type FormModule = typeof import('../form/connector-form.tsx');

let loading: Promise<FormModule> | undefined;

export function loadForm(): Promise<FormModule> {
  loading ??= import('../form/connector-form.tsx').catch((error) => {
    // The next one who needs it tries again.
    loading = undefined;
    throw error;
  });
  return loading;
}

/** Ahead of time. A failure shows when the form is needed. */
export function prefetchForm(): void {
  loadForm().catch(() => {});
}
