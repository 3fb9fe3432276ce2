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

/** Ahead of time. Whoever needs the form will see it if this fails. */
export function prefetchForm(): void {
  loadForm().catch(() => {});
}
