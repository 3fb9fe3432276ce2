/** Names on the platform end in a mark of ours, by which a create whose answer was lost is found again. */

export function nameOnPlatform(name: string, id: string): string {
  return `${name}${markOf(id)}`;
}

export function markOf(id: string): string {
  return ` (${id.replaceAll('-', '').slice(0, 12)})`;
}
