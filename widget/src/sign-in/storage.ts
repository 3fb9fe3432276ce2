/** The storage of the widget's frame, which browsers may deny to frames of another site. */
export const key = 'inlay-sign-in';

export function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    // A denied storage throws.
    return undefined;
  }
}

/** The id of the sign-in that was under way, if the frame could store it. */
export const rememberedHere = () => withStorage((storage) => storage.getItem(key)) ?? undefined;
