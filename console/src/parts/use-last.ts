/** The value, or the last one that there was: what is shown stays while the next is on its way. */
import { useRef } from 'preact/hooks';

export function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef(value);
  if (value !== undefined) last.current = value;
  return last.current;
}
