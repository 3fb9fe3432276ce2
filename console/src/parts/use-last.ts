/** The value, or the last defined one, so that the old stays visible while the new one loads. */
import { useRef } from 'preact/hooks';

export function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef(value);
  if (value !== undefined) last.current = value;
  return last.current;
}
