/** A value once it has stayed the same for a moment: whoever types does not ask the service with every key. */
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
