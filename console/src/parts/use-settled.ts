/** Debounces a value, so that typing does not send a request per key. */
import { useEffect, useState } from 'preact/hooks';

const settledMs = 400;

export function useSettled<T extends string | undefined>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === settled) return;
    const timer = setTimeout(() => setSettled(value), settledMs);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return settled;
}
