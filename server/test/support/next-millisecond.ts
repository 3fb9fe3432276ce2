/** Waits until the clock shows another millisecond: rows that are made within one have no order in time. */
export async function nextMillisecond(): Promise<void> {
  const before = Date.now();
  while (Date.now() === before) await new Promise((resolve) => setImmediate(resolve));
}
